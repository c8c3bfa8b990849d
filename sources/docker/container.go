package docker

import (
	"errors"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/cgroup"
	"github.com/hpad/hpad/sources/internal/measured"
	"github.com/hpad/hpad/sources/internal/rate"
	"github.com/hpad/hpad/targets"
)

// Path is the way the numbers of a container come.
type Path string

// The paths.
const (
	Cgroup Path = "cgroup"
	API    Path = "api"
)

// resource is a row of what is measured.
type resource int

const (
	cpu resource = iota
	memory
	resources
)

// container is what is remembered of a container from one evaluation to the next.
type container struct {
	id   string
	path Path
	// settled is true once it is known that the container has no control group here, and only the
	// engine is asked. That stays true until it is started again or the engine knows nothing of it.
	settled bool
	pid     int
	started time.Time
	asked   time.Time

	group cgroup.Group

	counter rate.Counter
	latest  [resources]measured.Once
	call    *call
}

// follow notices that the target says another start than before.
func (c *container) follow(in *targets.Instance, b *cgroup.Budget) {
	restarted := c.pid > 0 && in.PID > 0 && c.pid != in.PID ||
		!c.started.IsZero() && !in.Started.IsZero() && !c.started.Equal(in.Started)
	if restarted {
		c.leave(b)
	}
	if in.PID > 0 {
		c.pid = in.PID
	}
	if !in.Started.IsZero() {
		c.started = in.Started
	}
}

// leave forgets the way to a container that stopped. If it starts again, its counters begin anew.
func (c *container) leave(b *cgroup.Budget) {
	c.group.Close(b)
	c.counter.Restart()
	c.path, c.settled = "", false
}

// local measures through the control group. Found is false if there is none.
func (s *Source) local(c *container, in *targets.Instance, r resource, at time.Time) (sample algorithm.Sample, found bool, err error) {
	// Twice: the group may have gone, and come back at the same or another place.
	for range 2 {
		if c.path != Cgroup && !s.locate(c, in) {
			return algorithm.Sample{}, false, nil
		}
		if r == cpu {
			sample, err = s.localCPU(c, in, at)
		} else {
			sample, err = s.localMemory(c, at)
		}
		if !errors.Is(err, cgroup.ErrGone) {
			return sample, true, err
		}
		c.leave(s.budget)
	}
	return algorithm.Sample{}, false, nil
}

func (s *Source) locate(c *container, in *targets.Instance) bool {
	g, ok, sure := s.locator.find(in.ContainerID, in.PID, time.Now())
	c.settled = sure && !ok
	if ok {
		c.path = Cgroup
		c.group.Enter(g.cpu, g.memory, &s.locator.layout.Files, s.budget)
	}
	return ok
}

func (s *Source) localCPU(c *container, in *targets.Instance, at time.Time) (algorithm.Sample, error) {
	used, ok, err := c.group.CPU(s.budget, s.buffer)
	if err != nil || !ok {
		return algorithm.Sample{}, err
	}
	taken := time.Now()
	var started time.Time
	if !c.counter.Seen() {
		started = s.locator.started(in, taken)
	}
	return c.counter.Add(rate.Reading{Used: used, Taken: taken}, started, s.cpus).Sample(at), nil
}

func (s *Source) localMemory(c *container, at time.Time) (algorithm.Sample, error) {
	bytes, ok, err := c.group.Memory(s.budget, s.buffer)
	switch {
	case errors.Is(err, cgroup.ErrNotAccounted):
		return algorithm.Sample{}, sources.Errorf(sources.Unsupported, "cannot measure memory: %w", err)
	case err != nil || !ok:
		return algorithm.Sample{}, err
	}
	return measured.Memory(bytes, at), nil
}
