package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

const (
	// mortalDir makes the test binary a daemon on the files of that folder, that is killed at
	// mortalPoint, or ends after some evaluations.
	mortalDir, mortalPoint = "HPAD_TEST_MORTAL", "HPAD_TEST_MORTAL_POINT"
	// mortalReads is after how many readings of its target the daemon ends that is not killed.
	mortalReads = 4
)

// killPoints are the points around a write at which a crash differs from one elsewhere.
var killPoints = []string{"before the intent", "after the intent", "after the write", "after the commit"}

func TestKilledDaemonCountsEveryChangeOnce(t *testing.T) {
	for _, direction := range []string{"up", "down"} {
		for _, point := range append([]string{"never"}, killPoints...) {
			t.Run(direction+"/"+point, func(t *testing.T) {
				t.Parallel()
				m := newMortal(t, direction)
				if point != "never" {
					m.run(point, true)
				}
				m.run("never", false)
				m.check()
			})
		}
	}
}

func TestDaemonKilledAgainAndAgainCountsEveryChangeOnce(t *testing.T) {
	t.Parallel()
	m := newMortal(t, "up")
	m.run("after the intent", true)
	m.run("before the intent", true)
	m.run("after the write", true)
	m.run("never", false)
	m.check()
}

// mortal is a workload that wants much more, or less, and may change by 2 within the test.
type mortal struct {
	t         *testing.T
	dir       string
	direction string
}

func newMortal(t *testing.T, direction string) mortal {
	m := mortal{t, t.TempDir(), direction}
	m.write("target", "10\n")
	m.write("value", map[string]string{"up": "500", "down": "10"}[direction])
	m.write("hpad.toml", fmt.Sprintf(`
[daemon]
listen = ""
socket = ""
sync_period = "1s"
state_dir = "state"
[sources.file]
driver = "file"
[targets.file]
driver = "file"
[[workload]]
name = "web"
target = { via = "file" }
max_replicas = 100
[[workload.metric]]
type = "external"
name = "queue"
source = "file"
query = "q"
average_value = 10
[workload.behavior.scale_%s]
stabilization_window = "0s"
policies = [{ type = "instances", value = 2, period = "30m" }]
`, direction))
	return m
}

func (m mortal) write(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// run runs the daemon until it ends by itself or is killed.
func (m mortal) run(point string, killed bool) {
	m.t.Helper()
	executable, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	process := exec.CommandContext(m.t.Context(), executable)
	process.Env = append(os.Environ(), mortalDir+"="+m.dir, mortalPoint+"="+point)
	output, err := process.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		err = nil
	} else if killed {
		m.t.Fatalf("the daemon was not killed %s:\n%s", point, output)
	}
	if err != nil {
		m.t.Fatalf("%v:\n%s", err, output)
	}
}

// check compares with what happens without a crash: one change by 2, and one scale event.
func (m mortal) check() {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, "target"))
	if err != nil {
		m.t.Fatal(err)
	}
	want := map[string]string{"up": "10 12", "down": "10 8"}[m.direction]
	if got := strings.Join(strings.Fields(string(text)), " "); got != want {
		m.t.Errorf("the target went through %s, want %s", got, want)
	}
	s, err := openState(filepath.Join(m.dir, "state"), slog.New(slog.DiscardHandler), newStateMetrics())
	if err != nil {
		m.t.Fatal(err)
	}
	defer s.close()
	kept, _ := s.load("web")
	events := map[string][]algorithm.ScaleEvent{"up": kept.state.Memory.ScaleUps, "down": kept.state.Memory.ScaleDowns}[m.direction]
	counts := []int32{}
	for _, e := range events {
		counts = append(counts, e.Replicas)
	}
	if diff := cmp.Diff([]int32{2}, counts); diff != "" || kept.intent != nil {
		m.t.Errorf("intent %v, scale events -want +got:\n%s", kept.intent, diff)
	}
}

// runMortal is the daemon that is killed.
func runMortal(dir, point string) {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	f := &fileTarget{dir: dir, point: point, end: end}
	path := filepath.Join(dir, "hpad.toml")
	d, err := New(Options{
		Load: func() (*config.Config, config.Problems) {
			return config.Load(path, config.Known{Sources: []string{"file"}, Targets: []string{"file"}})
		},
		Drivers: Drivers{
			Sources: []sources.Driver{{Name: "file", Open: func(sources.Environment, options.Table) (sources.Source, error) {
				return fileSource{f}, nil
			}}},
			Targets: []targets.Driver{oneTargetDriver("file", f)},
		},
		Log: slog.New(slog.NewTextHandler(f, nil)),
	})
	if err == nil {
		err = d.Run(ctx)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// fileTarget is a target whose counts are the lines of a file. As a log it dies of the line that
// follows the commit of a change.
type fileTarget struct {
	dir, point string
	end        func()
	reads      atomic.Int32
}

func (f *fileTarget) dieAt(point string) {
	if f.point == point {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (f *fileTarget) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "msg=scaled ") {
		f.dieAt("after the commit")
	}
	return os.Stderr.Write(line)
}

func (f *fileTarget) ID() string   { return "file" }
func (f *fileTarget) Close() error { return nil }

func (f *fileTarget) Status(context.Context) (targets.Status, error) {
	if f.reads.Add(1) == mortalReads {
		f.end()
	}
	text, err := os.ReadFile(filepath.Join(f.dir, "target"))
	if err != nil {
		return targets.Status{}, err
	}
	counts := strings.Fields(string(text))
	var n int32
	_, err = fmt.Sscan(counts[len(counts)-1], &n)
	return targets.Status{SpecReplicas: n, StatusReplicas: n}, err
}

func (f *fileTarget) SetReplicas(_ context.Context, _ targets.Status, n int32) error {
	f.dieAt("after the intent")
	file, err := os.OpenFile(filepath.Join(f.dir, "target"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, n)
	f.dieAt("after the write")
	return errors.Join(err, file.Close())
}

type fileSource struct{ target *fileTarget }

func (s fileSource) Close() error { return nil }

func (s fileSource) Query(_ context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	s.target.dieAt("before the intent")
	file, err := os.Open(filepath.Join(s.target.dir, "value"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	var v float64
	if _, err := fmt.Sscan(string(text), &v); err != nil {
		return nil, err
	}
	return sources.NewResult([]sources.Series{{Value: v, Time: at}}, nil), nil
}
