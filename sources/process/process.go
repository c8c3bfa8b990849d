// Package process measures processes of this machine through /proc, each with all its descendants.
//
// An instance is its main process with every process of its session and group (the process target
// gives each instance its own) and the children of all these. README.md has the files that are
// read and what happens at each kind of failure.
package process

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/measured"
	"github.com/hpad/hpad/sources/internal/procfs"
	"github.com/hpad/hpad/sources/internal/rate"
	"github.com/hpad/hpad/targets"
)

// forgetAfter is how long an instance is remembered that nobody asks for: twice the longest sync
// period.
const forgetAfter = 10 * time.Minute

// settings are the keys of a [sources.NAME] table.
type settings struct {
	// ProcRoot is where the process file system is mounted.
	ProcRoot string `toml:"proc_root"`
}

// Driver is the driver "process".
func Driver() sources.Driver {
	return sources.Driver{Name: "process", Open: func(_ sources.Environment, table options.Table) (sources.Source, error) {
		set := settings{ProcRoot: ownProc}
		if err := table.Decode(&set); err != nil {
			return nil, err
		}
		if !filepath.IsAbs(set.ProcRoot) {
			return nil, options.Errorf("proc_root", "must be an absolute path, is %q", set.ProcRoot)
		}
		return open(filepath.Clean(set.ProcRoot)), nil
	}}
}

// Source measures processes. It implements sources.ResourceReader.
type Source struct {
	proc string
	cpus int

	mu     sync.Mutex
	table  *table
	known  map[int]*instance
	tidied time.Time
}

func open(proc string) *Source {
	return &Source{proc: proc, known: map[int]*instance{}}
}

// Close releases nothing: no file stays open.
func (s *Source) Close() error { return nil }

// ReadResource implements sources.ResourceReader. A CPU sample is an average since the evaluation
// before, so that an instance has none at first, unless it was started within the last minute.
func (s *Source) ReadResource(ctx context.Context, resource, part string, instances []targets.Instance, at time.Time) ([]algorithm.Sample, error) {
	if resource != "cpu" && resource != "memory" {
		return nil, sources.Errorf(sources.Unsupported, "cannot measure %q of processes, only \"cpu\" and \"memory\"", resource)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, sources.Errorf(sources.Unavailable, "cannot measure processes: %w", err)
	}
	if err := s.refresh(at); err != nil {
		return nil, sources.Errorf(sources.Unavailable, "cannot list processes: %w", err)
	}
	samples := make([]algorithm.Sample, len(instances))
	remote := 0
	for i := range instances {
		in := &instances[i]
		switch {
		case in.Remote:
			remote++
		case in.PID > 0 && measured.IsPart(part, in):
			samples[i] = s.sample(resource, in, at)
		}
	}
	if remote > 0 && remote == len(instances) {
		return nil, sources.Errorf(sources.Unsupported, "cannot measure processes of other machines: all %d instances run there", remote)
	}
	return samples, nil
}

// refresh reads all processes once per evaluation time, and not again within a window that would
// be too small to tell usage: the evaluations of many workloads are spread over time.
func (s *Source) refresh(at time.Time) error {
	if s.table != nil && (s.table.at.Equal(at) || time.Since(s.table.taken) < rate.MinWindow) {
		return nil
	}
	t, err := readTable(s.proc, at)
	if err != nil {
		return err
	}
	s.table = t
	s.tidy(t.taken)
	return nil
}

func (s *Source) sample(resource string, in *targets.Instance, at time.Time) algorithm.Sample {
	main, ok := s.table.processes[in.PID]
	if !ok || main.Gone() || s.reused(&main, in) {
		delete(s.known, in.PID)
		return algorithm.Sample{}
	}
	i := s.remembered(in.PID, &main)
	latest := &i.cpu
	if resource == "memory" {
		latest = &i.memory
	}
	if latest.At.Equal(at) {
		return latest.Sample
	}
	latest.At = at
	if resource == "memory" {
		latest.Sample = s.memory(in.PID, at)
	} else {
		latest.Sample = i.measure(s.table, in.PID, s.cpus).Sample(at)
	}
	return latest.Sample
}

// remembered returns what is known of the instance with that main process.
func (s *Source) remembered(pid int, main *procfs.Stat) *instance {
	i := s.known[pid]
	if i == nil || i.start != main.Start {
		i = &instance{start: main.Start}
		s.known[pid] = i
	}
	i.asked = s.table.taken
	return i
}

// reuseSlack is how much younger than its instance a process may seem: what the steps of both
// clocks and a late note of the start explain.
const reuseSlack = 2 * time.Second

// reused tells whether the process began after the instance, so that it is another one, which got
// the number of the instance's.
func (s *Source) reused(main *procfs.Stat, in *targets.Instance) bool {
	if in.Started.IsZero() {
		return false
	}
	return s.table.uptime-main.Start < s.table.taken.Sub(in.Started)-reuseSlack
}

// memory is the resident set of all processes of the instance. Pages that they share count once for
// each of them. A sum that lacks a process which did not end would be made up.
func (s *Source) memory(pid int, at time.Time) algorithm.Sample {
	bytes := uint64(0)
	for _, member := range s.table.members(pid) {
		resident, err := readResident(s.proc, member)
		if err != nil && (member == pid || !ended(err)) {
			return algorithm.Sample{}
		}
		bytes += resident
	}
	if bytes == 0 {
		return algorithm.Sample{}
	}
	return measured.Memory(bytes, at)
}

// tidy forgets the instances that nobody asks for any more, and counts the processors, of which a
// virtual machine may get more.
func (s *Source) tidy(now time.Time) {
	if now.Sub(s.tidied) < forgetAfter/10 {
		return
	}
	s.tidied, s.cpus = now, procfs.CPUs(s.proc)
	for pid, i := range s.known {
		if now.Sub(i.asked) > forgetAfter {
			delete(s.known, pid)
		}
	}
}
