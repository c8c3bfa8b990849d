package process

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// TestMain makes the test binary the command that instances run: its first argument says what it
// does (workload_test.go).
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && workloads()[os.Args[1]] != nil {
		workloads()[os.Args[1]](os.Args[2:])
		return
	}
	goleak.VerifyTestMain(m)
}

// deadline is how long anything may take on a busy machine.
const deadline = 20 * time.Second

// eventually polls until check returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	end := time.Now().Add(deadline)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %v: %v", deadline, err)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// testProgram is the test binary under several names.
type testProgram struct{ dir, absolute, relative string }

func program(t *testing.T) testProgram {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return testProgram{dir: filepath.Dir(own), absolute: own, relative: "./" + filepath.Base(own)}
}

func openDriver(t *testing.T, log *recorder) targets.Connection {
	t.Helper()
	c, err := Driver().Open(targets.Environment{Log: slog.New(log.handler())}, options.NewTable(t.TempDir(), nil))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// world is a target whose instances run a workload of the test binary.
type world struct {
	*target
	t   *testing.T
	log *recorder
}

// bind binds a target that is closed at the end of the test. The pairs of more are further keys.
func bind(t *testing.T, more map[string]any, command ...string) *world {
	t.Helper()
	log := newRecorder()
	c := openDriver(t, log)
	words := []any{ownProgram}
	for _, word := range command {
		words = append(words, word)
	}
	values := map[string]any{"command": words, "restart_backoff": "20ms", "stop_grace": "5s"}
	maps.Copy(values, more)
	bound, err := c.Bind(options.NewTable(t.TempDir(), values))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{target: bound.(*target), t: t, log: log}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		_ = c.Close()
		if t.Failed() {
			t.Log(log.text())
		}
	})
	return w
}

// activate binds and activates.
func activate(t *testing.T, more map[string]any, command ...string) *world {
	t.Helper()
	w := bind(t, more, command...)
	if err := w.Activate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) status() targets.Status {
	w.t.Helper()
	status, err := w.Status(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return status
}

func (w *world) set(replicas int32) {
	w.t.Helper()
	if err := w.SetReplicas(context.Background(), w.status(), replicas); err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a Status.
func (w *world) until(what string, is func(*targets.Status) bool) targets.Status {
	w.t.Helper()
	var status targets.Status
	eventually(w.t, func() error {
		status = w.status()
		if is(&status) {
			return nil
		}
		return fmt.Errorf("never %s: %+v", what, status)
	})
	return status
}

// running waits until exactly the instances of these numbers exist, and run.
func (w *world) running(ids ...string) targets.Status {
	w.t.Helper()
	return w.until("running "+strings.Join(ids, " "), func(s *targets.Status) bool {
		if len(s.Instances) != len(ids) {
			return false
		}
		for i := range ids {
			if s.Instances[i].ID != ids[i] || s.Instances[i].PID == 0 || s.Instances[i].Deleting {
				return false
			}
		}
		return true
	})
}

// logged waits for a line of the log with that text.
func (w *world) logged(text string) string {
	w.t.Helper()
	var found string
	eventually(w.t, func() error {
		for line := range strings.Lines(w.log.text()) {
			if strings.Contains(line, text) {
				found = line
				return nil
			}
		}
		return fmt.Errorf("the log has no %q", text)
	})
	return found
}

// gone waits until a process has ended; one that nobody has waited for yet has ended too.
func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, func() error {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return nil
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		if strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X") {
			return nil
		}
		return fmt.Errorf("process %d runs: %s", pid, stat)
	})
}

// recorder keeps a log.
type recorder struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func newRecorder() *recorder { return &recorder{} }

func (r *recorder) handler() slog.Handler { return slog.NewTextHandler(r, nil) }

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}
