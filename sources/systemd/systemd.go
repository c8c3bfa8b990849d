// Package systemd measures units of this machine's systemd through their control groups.
//
// A target says which group an instance is in. All its processes are counted, whoever started
// them, without asking systemd anything. README.md has the files that are read and what happens at
// each kind of failure.
package systemd

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/cgroup"
	"github.com/hpad/hpad/sources/internal/measured"
	"github.com/hpad/hpad/sources/internal/procfs"
	"github.com/hpad/hpad/targets"
)

// forgetAfter is how long a unit is remembered that nobody asks for: twice the longest sync period.
const forgetAfter = 10 * time.Minute

// settings are the keys of a [sources.NAME] table.
type settings struct {
	CgroupRoot string `toml:"cgroup_root" doc:"where the machine's control groups are mounted"`
}

func defaults() settings { return settings{CgroupRoot: "/sys/fs/cgroup"} }

// Driver is the driver "systemd".
func Driver() sources.Driver {
	return sources.Driver{Name: "systemd", Open: func(_ sources.Environment, table options.Table) (sources.Source, error) {
		set := defaults()
		if err := table.Decode(&set); err != nil {
			return nil, err
		}
		if !filepath.IsAbs(set.CgroupRoot) {
			return nil, options.Errorf("cgroup_root", "must be an absolute path, is %q", set.CgroupRoot)
		}
		return open(set.CgroupRoot, "/proc"), nil
	}}
}

// Source measures units. It implements sources.ResourceReader.
type Source struct {
	proc string

	mu     sync.Mutex
	cpus   int
	closed bool
	// layouts are where the counters of a group may be, the best first.
	layouts []cgroup.Layout
	budget  *cgroup.Budget
	buffer  []byte
	units   map[string]*unit // by control group
	tidied  time.Time
}

func open(root, proc string) *Source {
	s := &Source{
		proc:   proc,
		budget: cgroup.NewBudget(),
		buffer: make([]byte, cgroup.BufferSize),
		units:  map[string]*unit{},
	}
	layout := cgroup.Detect(root, proc)
	s.layouts = append(s.layouts, layout)
	if hybrid, ok := layout.Hybrid(); ok {
		s.layouts = append(s.layouts, hybrid)
	}
	return s
}

// Close closes all files.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, u := range s.units {
		u.group.Close(s.budget)
	}
	clear(s.units)
	return nil
}

// ReadResource implements sources.ResourceReader. A CPU sample is an average since the evaluation
// before, so that an instance has none at first.
func (s *Source) ReadResource(ctx context.Context, resource, part string, instances []targets.Instance, at time.Time) ([]algorithm.Sample, error) {
	if resource != "cpu" && resource != "memory" {
		return nil, sources.Errorf(sources.Unsupported, "cannot measure %q of units, only \"cpu\" and \"memory\"", resource)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, sources.Errorf(sources.Unavailable, "cannot measure units: %w", err)
	}
	if s.closed {
		return nil, sources.Errorf(sources.Unavailable, "cannot measure units: the source is closed")
	}
	now := time.Now()
	s.tidy(now)
	samples := make([]algorithm.Sample, len(instances))
	var failed error
	read := false
	for i := range instances {
		in := &instances[i]
		if in.Remote || in.Cgroup == "" || !measured.IsPart(part, in) {
			continue
		}
		sample, err := s.sample(resource, in, at, now)
		if err != nil && failed == nil {
			failed = err
		}
		samples[i], read = sample, read || err == nil
	}
	if failed != nil && !read {
		return nil, failed
	}
	return samples, nil
}

func (s *Source) sample(resource string, in *targets.Instance, at, now time.Time) (algorithm.Sample, error) {
	u := s.units[in.Cgroup]
	if u == nil {
		u = &unit{}
		s.units[in.Cgroup] = u
	}
	u.asked = now
	latest := &u.cpu
	if resource == "memory" {
		latest = &u.memory
	}
	if latest.At.Equal(at) {
		return latest.Sample, latest.err
	}
	sample, err := s.measure(u, resource, in, at)
	*latest = measurement{measured.Once{At: at, Sample: sample}, err}
	return sample, err
}

// tidy forgets the units that nobody asks for any more, and counts the processors, of which a
// virtual machine may get more.
func (s *Source) tidy(now time.Time) {
	if now.Sub(s.tidied) < forgetAfter/10 {
		return
	}
	s.tidied, s.cpus = now, procfs.CPUs(s.proc)
	for group, u := range s.units {
		if now.Sub(u.asked) > forgetAfter {
			u.group.Close(s.budget)
			delete(s.units, group)
		}
	}
}
