package systemd

import (
	"errors"
	"os"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/cgroup"
	"github.com/hpad/hpad/sources/internal/measured"
	"github.com/hpad/hpad/sources/internal/rate"
	"github.com/hpad/hpad/targets"
)

// unit is what is remembered of a control group from one evaluation to the next.
type unit struct {
	asked       time.Time
	entered     bool
	group       cgroup.Group
	counter     rate.Counter
	cpu, memory measurement
}

// measurement is what came of measuring at an evaluation time.
type measurement struct {
	measured.Once
	err error
}

// measure reads one resource. A group that is gone may be there again: systemd removes that of a
// service which stops, and makes one of the same name when it starts.
func (s *Source) measure(u *unit, resource string, in *targets.Instance, at time.Time) (algorithm.Sample, error) {
	for range 2 {
		if !u.entered {
			switch err := s.enter(u, in); {
			case errors.Is(err, errEnded):
				return algorithm.Sample{}, nil
			case err != nil:
				return algorithm.Sample{}, err
			}
		}
		sample, err := s.read(u, resource, in, at)
		if !errors.Is(err, cgroup.ErrGone) {
			return sample, err
		}
		u.leave(s.budget)
	}
	return algorithm.Sample{}, nil
}

// leave forgets a group. If the unit starts again, its counters begin anew.
func (u *unit) leave(b *cgroup.Budget) {
	u.group.Close(b)
	u.counter.Restart()
	u.entered = false
}

// errEnded says that a unit has no control group because it does not run.
var errEnded = errors.New("the unit has ended")

// enter finds the group where it has a CPU counter, which every group has but one of cgroup v1 that
// systemd was not told to count.
func (s *Source) enter(u *unit, in *targets.Instance) error {
	for i := range s.layouts {
		l := &s.layouts[i]
		dir, ok := l.CPU.Dir(in.Cgroup)
		if !l.Present() || !ok || !exists(dir+"/"+l.Files.CPU) {
			continue
		}
		memory, ok := l.Memory.Dir(in.Cgroup)
		if l.Memory.Point == "" || !ok || !exists(memory+"/"+l.Files.Memory) {
			memory = ""
		}
		u.group.Enter(dir, memory, &l.Files, s.budget)
		u.entered = true
		return nil
	}
	if in.PID == 0 {
		return errEnded
	}
	return sources.Errorf(sources.Unsupported,
		`cannot measure %q: its control group %q has no counters here; set CPUAccounting=yes and MemoryAccounting=yes for the unit, or source = "process" for the metric`, in.ID, in.Cgroup)
}

func (s *Source) read(u *unit, resource string, in *targets.Instance, at time.Time) (algorithm.Sample, error) {
	if resource == "cpu" {
		used, ok, err := u.group.CPU(s.budget, s.buffer)
		if err != nil || !ok {
			return algorithm.Sample{}, err
		}
		return u.counter.Add(rate.Reading{Used: used, Taken: time.Now()}, time.Time{}, s.cpus).Sample(at), nil
	}
	bytes, ok, err := u.group.Memory(s.budget, s.buffer)
	switch {
	case errors.Is(err, cgroup.ErrNotAccounted):
		return algorithm.Sample{}, sources.Errorf(sources.Unsupported,
			`cannot measure the memory of %q: its control group %q has no counter; set MemoryAccounting=yes for the unit, or source = "process" for the metric`, in.ID, in.Cgroup)
	case err != nil || !ok:
		return algorithm.Sample{}, err
	}
	return measured.Memory(bytes, at), nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
