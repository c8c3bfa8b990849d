package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/api"
	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/targettest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(mortalDir); dir != "" {
		runMortal(dir, os.Getenv(mortalPoint))
		return
	}
	goleak.VerifyTestMain(m)
}

// world is a daemon with a configuration on disk, and fakes for everything outside of it.
type world struct {
	t       *testing.T
	path    string
	targets targettest.Fakes
	source  sourcetest.Fake
	// moreSources and moreTargets are drivers beside "fake".
	moreSources []sources.Driver
	moreTargets []targets.Driver
	log         logBuffer
	level       slog.Level
	daemon      *Daemon
	stop        func() error
	// endsBadly allows Run to end with an error.
	endsBadly bool
}

const head = `
[daemon]
listen = ""
socket = ""
[sources.fake]
driver = "fake"
[targets.fake]
driver = "fake"
`

// inBubble runs the test with a clock that stands still while anybody works.
func inBubble(t *testing.T, f func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t)) })
}

func newWorld(t *testing.T) *world {
	return &world{t: t, path: filepath.Join(t.TempDir(), "hpad.toml")}
}

// write makes the configuration: the head and what is given.
func (w *world) write(parts ...string) {
	w.t.Helper()
	w.writeAll(head + strings.Join(parts, "\n"))
}

func (w *world) writeAll(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// queueWorkload is a workload with one external metric, 10 per replica.
func queueWorkload(name, query string, more ...string) string {
	return fmt.Sprintf(`
[[workload]]
name = %q
target = { via = "fake", name = %q }
min_replicas = 1
max_replicas = 100
%s
[[workload.metric]]
type = "external"
name = "queue"
source = "fake"
query = %q
average_value = 10
`, name, name, strings.Join(more, "\n"), query)
}

func (w *world) drivers() Drivers {
	return Drivers{
		Sources: append([]sources.Driver{w.source.Driver("fake")}, w.moreSources...),
		Targets: append([]targets.Driver{w.targets.Driver()}, w.moreTargets...),
	}
}

func (w *world) load() (*config.Config, config.Problems) {
	known := config.Known{Sources: []string{"fake"}, Targets: []string{"fake"}}
	for _, d := range w.moreSources {
		known.Sources = append(known.Sources, d.Name)
	}
	for _, d := range w.moreTargets {
		known.Targets = append(known.Targets, d.Name)
	}
	return config.Load(w.path, known)
}

// start runs the daemon until the test ends, or stop is called.
func (w *world) start() {
	w.t.Helper()
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: w.level}))
	d, err := New(Options{Load: w.load, Drivers: w.drivers(), Log: log})
	if err != nil {
		w.t.Fatalf("New: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	w.daemon = d
	w.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	w.t.Cleanup(func() {
		if err := w.stop(); err != nil && !w.endsBadly {
			w.t.Errorf("Run: %v", err)
		}
	})
}

// pass lets virtual time pass, and everything that happens then come to rest.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) workload(name string) api.Workload {
	w.t.Helper()
	found := w.daemon.find(name)
	if found == nil {
		w.t.Fatalf("there is no workload %q", name)
	}
	return found.describe(true)
}

func (w *world) condition(workload, name string) api.Condition {
	w.t.Helper()
	for _, c := range w.workload(workload).Conditions {
		if c.Type == name {
			return c
		}
	}
	return api.Condition{}
}

// snapshot is the state between two evaluations.
func (w *workload) snapshot() algorithm.State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.history.state
}

// logBuffer is safe for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take returns what was logged since it was called last.
func (l *logBuffer) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.b.String()
	l.b.Reset()
	return text
}
