package docker

import (
	"context"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/cgroup"
	"github.com/hpad/hpad/sources/internal/rate"
	"github.com/hpad/hpad/targets"
)

// evaluation is one ReadResource.
type evaluation struct {
	source   *Source
	resource resource
	at       time.Time
	samples  []algorithm.Sample
	// questions are those the engine has to answer.
	questions []question
	remote    int
	err       error
}

// question is the call of the instance at an index.
type question struct {
	index     int
	container *container
	call      *call
}

// begin takes the samples that can be had at once and asks the engine for the others.
func (e *evaluation) begin(part string, instances []targets.Instance) error {
	s, now := e.source, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return sources.Errorf(sources.Unavailable, "cannot measure containers: %w", errClosed)
	}
	s.tidy(now)
	for i := range instances {
		in := &instances[i]
		switch {
		case in.Remote:
			e.remote++
		case in.ContainerID != "" && isPart(part, in):
			e.instance(i, in, s.remembered(in, now))
		}
	}
	return nil
}

// isPart tells whether a container of that name is all there is of the instance.
func isPart(part string, in *targets.Instance) bool {
	return part == "" || len(in.Containers) == 1 && in.Containers[0].Name == part
}

func (e *evaluation) instance(i int, in *targets.Instance, c *container) {
	s := e.source
	latest := &c.latest[e.resource]
	if latest.at.Equal(e.at) {
		e.samples[i] = latest.sample
		return
	}
	c.follow(in, s.budget)
	if s.prefer == preferCgroup || s.prefer == preferAuto && !c.settled {
		sample, found, err := s.local(c, in, e.resource, e.at)
		e.note(err)
		if found {
			*latest = measurement{e.at, sample}
			e.samples[i] = sample
			return
		}
	}
	if s.prefer == preferCgroup {
		*latest = measurement{at: e.at}
		return
	}
	if c.call == nil || !c.call.at.Equal(e.at) {
		c.call = s.engine.ask(in.ContainerID, e.at)
	}
	e.questions = append(e.questions, question{i, c, c.call})
}

// await takes the engine's answers as long as ctx lasts.
func (e *evaluation) await(ctx context.Context) {
	for i := range e.questions {
		q := &e.questions[i]
		select {
		case <-q.call.done:
			e.samples[q.index] = e.source.take(q, e.resource)
			e.note(q.call.err)
		case <-ctx.Done():
			e.note(failed(ctx.Err(), e.source.engine.host))
			return
		}
	}
}

// take makes samples of an answer, for both resources, once.
func (s *Source) take(q *question, r resource) algorithm.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := q.call; !k.taken {
		k.taken = true
		s.absorb(q.container, k)
	}
	return q.call.samples[r]
}

func (s *Source) absorb(c *container, k *call) {
	switch {
	case k.err != nil:
		c.path, c.settled = "", false
		return
	case !k.answer.running:
		c.leave(s.budget)
		return
	}
	if c.path != API && s.prefer == preferAuto {
		s.log.Debug("asking the engine for a container without a control group here", "container", c.id)
	}
	c.path = API
	a := &k.answer
	usage := c.counter.Add(rate.Reading{Used: a.used, Taken: a.taken, Stamp: a.stamp}, time.Time{}, a.cpus)
	k.samples[cpu] = usage.Sample(k.at)
	if a.hasMemory {
		k.samples[memory] = cgroup.MemorySample(a.memory, k.at)
	}
}

// note keeps the first error, which matters if nothing could be measured.
func (e *evaluation) note(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *evaluation) result() ([]algorithm.Sample, error) {
	for i := range e.samples {
		if e.samples[i].Present {
			return e.samples, nil
		}
	}
	switch {
	case e.err != nil:
		return nil, e.err
	case e.remote > 0 && e.remote == len(e.samples):
		return nil, sources.Errorf(sources.Unsupported, "cannot measure containers on other machines: all %d instances run there", e.remote)
	}
	return e.samples, nil
}
