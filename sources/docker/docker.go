// Package docker measures the containers of a Docker engine, or of Podman.
//
// The counters of a container on this machine are read from its control group, which costs a
// system call each and needs no engine. For all others the engine's API is asked, which costs some
// three milliseconds of CPU time per container in four processes. Which of the two it is, is
// decided for each container by whether its control group can be found, and again whenever it is
// started. README.md has the options and what happens at each kind of failure.
package docker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/cgroup"
	"github.com/hpad/hpad/sources/internal/procfs"
	"github.com/hpad/hpad/targets"
)

// forgetAfter is how long a container is remembered that nobody asks for: twice the longest sync
// period.
const forgetAfter = 10 * time.Minute

// Driver is the driver "docker".
func Driver() sources.Driver {
	return sources.Driver{Name: "docker", Open: func(env sources.Environment, table options.Table) (sources.Source, error) {
		set, security, err := read(table)
		if err != nil {
			return nil, err
		}
		return open(env.Log, set, newEngine(set.Host, security, set.Timeout.Std()), "/proc"), nil
	}}
}

// Source measures containers. It implements sources.ResourceReader.
type Source struct {
	log    *slog.Logger
	prefer string
	engine *engine

	mu         sync.Mutex
	closed     bool
	locator    locator
	cpus       int
	budget     *cgroup.Budget
	buffer     []byte
	containers map[string]*container
	tidied     time.Time
}

func open(log *slog.Logger, set settings, e *engine, proc string) *Source {
	return &Source{
		log: log, prefer: set.Prefer, engine: e,
		locator:    locator{root: set.CgroupRoot, proc: proc},
		budget:     cgroup.NewBudget(),
		buffer:     make([]byte, cgroup.BufferSize),
		containers: map[string]*container{},
	}
}

// Close ends open questions to the engine and closes all files.
func (s *Source) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for _, c := range s.containers {
		c.group.Close(s.budget)
	}
	s.mu.Unlock()
	return s.engine.close()
}

// Paths tells how the numbers of each container come, by its id. Containers that gave none at the
// last evaluation are not in it.
func (s *Source) Paths() map[string]Path {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := map[string]Path{}
	for id, c := range s.containers {
		if c.path != "" {
			paths[id] = c.path
		}
	}
	return paths
}

// ReadResource implements sources.ResourceReader. A CPU sample is an average since the evaluation
// before, so that an instance has none at first, unless its main process is seen to have begun
// within the last minute.
func (s *Source) ReadResource(ctx context.Context, name, part string, instances []targets.Instance, at time.Time) ([]algorithm.Sample, error) {
	r, err := resourceOf(name)
	if err != nil {
		return nil, err
	}
	e := evaluation{source: s, resource: r, at: at, samples: make([]algorithm.Sample, len(instances))}
	if err := e.begin(part, instances); err != nil {
		return nil, err
	}
	e.await(ctx)
	return e.result()
}

func resourceOf(name string) (resource, error) {
	switch name {
	case "cpu":
		return cpu, nil
	case "memory":
		return memory, nil
	}
	return 0, sources.Errorf(sources.Unsupported, "cannot measure %q of containers, only \"cpu\" and \"memory\"", name)
}

var errClosed = errors.New("the source is closed")

// remembered returns the container of an instance.
func (s *Source) remembered(in *targets.Instance, now time.Time) *container {
	c := s.containers[in.ContainerID]
	if c == nil {
		c = &container{id: in.ContainerID}
		s.containers[in.ContainerID] = c
	}
	c.asked = now
	return c
}

// tidy forgets the containers that nobody asks for any more, and counts the processors, of which a
// virtual machine may get more.
func (s *Source) tidy(now time.Time) {
	if now.Sub(s.tidied) < forgetAfter/10 {
		return
	}
	s.tidied, s.cpus = now, procfs.CPUs(s.locator.proc)
	for id, c := range s.containers {
		if now.Sub(c.asked) > forgetAfter {
			c.group.Close(s.budget)
			delete(s.containers, id)
		}
	}
}
