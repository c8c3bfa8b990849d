package systemd

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/systemdtest"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
)

// real is one manager for all tests that need one.
var real systemdtest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	if err := real.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// busy uses some CPU time in its main process and in a child that leaves its session.
const busy = `[Service]
ExecStart=/bin/sh -c 'setsid sh -c "while :; do :; done" & exec sleep 1000'
CPUAccounting=yes
MemoryAccounting=yes
CPUQuota=20%
`

func show(t *testing.T, m *systemdtest.Manager, unit, property string) string {
	t.Helper()
	return strings.TrimSpace(m.Systemctl(t, "show", "--value", "-p", property, unit))
}

// started starts a unit and returns it as the target driver does.
func started(t *testing.T, m *systemdtest.Manager, unit string) targets.Instance {
	t.Helper()
	m.Systemctl(t, "start", unit)
	t.Cleanup(func() { m.Systemctl(t, "stop", unit) })
	pid, err := strconv.Atoi(show(t, m, unit, "MainPID"))
	if err != nil {
		t.Fatal(err)
	}
	in := targets.Instance{Identifiers: []string{unit}, PID: pid, Cgroup: show(t, m, unit, "ControlGroup")}
	in.ID = unit
	in.Containers = []algorithm.Container{{Name: "main"}}
	return in
}

// TestContract runs on units of a real manager.
func TestContract(t *testing.T) {
	m := real.Manager(t)
	m.Write(t, "busy@.service", busy)
	instances := []targets.Instance{started(t, m, "busy@1.service"), started(t, m, "busy@2.service")}
	source := open(defaults().CgroupRoot, "/proc")
	defer source.Close()
	if _, err := source.ReadResource(t.Context(), "memory", "", instances, time.Now()); err != nil {
		t.Skipf("no memory is accounted for on this machine: %v", err)
	}
	ended := instances[0]
	ended.ID, ended.PID, ended.Cgroup = "busy@9.service", 0, strings.ReplaceAll(ended.Cgroup, "@1.", "@9.")
	t.Run("promises", func(t *testing.T) {
		sourcetest.ResourceReader(t, false, func(t *testing.T) sourcetest.ResourceHarness {
			s := open(defaults().CgroupRoot, "/proc")
			t.Cleanup(func() { _ = s.Close() })
			return sourcetest.ResourceHarness{
				Reader:    s,
				Instances: instances,
				Ended:     ended,
				Step: func(t *testing.T) time.Time {
					select {
					case <-time.After(1200 * time.Millisecond):
					case <-t.Context().Done():
					}
					return time.Now()
				},
			}
		})
	})
}

func TestProcessesThatLeftTheirSessionCountAndARestartBeginsAnew(t *testing.T) {
	m := real.Manager(t)
	m.Write(t, "stray@.service", strings.Replace(busy, "CPUQuota=20%\n", "", 1))
	in := started(t, m, "stray@1.service")
	s := open(defaults().CgroupRoot, "/proc")
	defer s.Close()
	cpu := func() algorithm.Sample {
		samples, err := s.ReadResource(t.Context(), "cpu", "", []targets.Instance{in}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return samples[0]
	}
	wait := func() { <-time.After(1100 * time.Millisecond) }
	if first := cpu(); first.Present {
		t.Errorf("the first sample is %+v", first)
	}
	wait()
	if got := cpu(); !got.Present || got.Value < 100 {
		t.Errorf("a busy child of another session is measured as %+v", got)
	}
	m.Systemctl(t, "restart", "stray@1.service")
	wait()
	if got := cpu(); got.Present {
		t.Errorf("the first sample after a restart is %+v", got)
	}
	wait()
	if got := cpu(); !got.Present {
		t.Error("no second sample after a restart")
	}
}
