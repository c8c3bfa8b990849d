package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestOutputIsLoggedLineByLine(t *testing.T) {
	w := activate(t, map[string]any{"restart_backoff": "1m"}, "write", "hello", "8192", "8193")
	w.logged(`msg="output of an instance" id=` + w.ID() + ` command=process.test instance=1 stream=stdout line=hello`)
	w.logged(`stream=stderr line="hello on stderr"`)
	whole, cut := "line="+strings.Repeat("x", maxLine)+"\n", "line="+strings.Repeat("x", maxLine)+" cut=true\n"
	w.logged(whole)
	w.logged(cut)
	w.logged(`line="no line end"`)
}

func TestLinesBeyondTheRateAreCountedNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newRecorder()
		o, err := newOutput(slog.New(log.handler()))
		if err != nil {
			t.Fatal(err)
		}
		o.stdout.close()
		o.stderr.close()
		go o.write()
		for range 3 {
			for n := range maxLines + 50 {
				o.offer(line{stream: "stdout", text: fmt.Sprint("line", n)}, time.Now())
				synctest.Wait()
			}
			time.Sleep(time.Second)
		}
		close(o.lines)
		<-o.written
		if n := strings.Count(log.text(), "line=line"); n != 3*maxLines {
			t.Errorf("%d lines were logged, want %d", n, 3*maxLines)
		}
		if n := strings.Count(log.text(), "dropped\" lines=50\n"); n != 3 {
			t.Errorf("the drop was told %d times, want 3:\n%s", n, log.text())
		}
	})
}

// stuckHandler does not return until it is released.
type stuckHandler struct {
	slog.Handler
	release <-chan struct{}
}

func (h stuckHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h stuckHandler) Handle(context.Context, slog.Record) error {
	<-h.release
	return nil
}

func (h stuckHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

func TestALogThatIsStuckDoesNotStopAnInstance(t *testing.T) {
	release := make(chan struct{})
	log := slog.New(stuckHandler{slog.DiscardHandler, release})
	o, err := newOutput(log)
	if err != nil {
		t.Fatal(err)
	}
	o.lines = make(chan line, 1)
	done := filepath.Join(t.TempDir(), "done")
	set := &settings{program: program(t).absolute, bindingOptions: bindingOptions{Command: []string{"", "flood", "100000", done}}}
	s := newStarter()
	defer s.close()
	cmd := set.command(1)
	cmd.Stdout, cmd.Stderr = o.stdout.write, o.stderr.write
	if err := s.start(cmd); err != nil {
		t.Fatal(err)
	}
	o.begin()
	eventually(t, func() error {
		_, err := os.Stat(done)
		return err
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	o.end()
	close(release)
	<-o.written
}

func TestEnvironmentOfAnInstance(t *testing.T) {
	for name, value := range map[string]string{
		"CREDENTIALS_DIRECTORY": "/run/credentials/hpad", "NOTIFY_SOCKET": "@s", "LISTEN_FDS": "1",
		"WATCHDOG_USEC": "1", "HPAD_INSTANCE": "77", "INHERITED": "yes",
	} {
		t.Setenv(name, value)
	}
	directory := t.TempDir()
	w := activate(t, map[string]any{
		"port": int64(20000), "working_directory": directory, "replicas": int64(2),
		"env": map[string]any{"WHO": "{instance} at {port}", "INHERITED_TOO": "${HOME}"},
	}, "show", "--number={instance}", "http://localhost:{port}/{other}")
	for _, want := range []string{
		`instance=2 stream=stdout line="arguments --number=2,http://localhost:20001/{other}"`,
		`instance=2 stream=stdout line="variable HPAD_INSTANCE=2"`,
		`line="variable HPAD_PORT=20001"`, `line="variable WHO=2 at 20001"`,
		`line="variable INHERITED=yes"`, `line="variable INHERITED_TOO=${HOME}"`,
		`line="directory ` + directory + `"`, `line="variable PWD=` + directory + `"`,
	} {
		w.logged(want)
	}
	eventually(t, func() error {
		if n := strings.Count(w.log.text(), "line=ready"); n != 2 {
			return fmt.Errorf("%d instances have shown everything", n)
		}
		return nil
	})
	for _, forbidden := range []string{"CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "WATCHDOG_USEC", "=77"} {
		if strings.Contains(w.log.text(), "variable "+forbidden) || strings.Contains(w.log.text(), "INSTANCE"+forbidden) {
			t.Errorf("an instance sees %s", forbidden)
		}
	}
}

func TestInstancesRunAsTheUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	for _, user := range []string{"nobody", "65534"} {
		dir := openToAll(t)
		w := activate(t, map[string]any{"user": user, "command": []any{filepath.Join(dir, "worker"), "show"}})
		w.logged(`line="user 65534 `)
		w.logged(`line="variable USER=nobody"`)
	}
}

// openToAll copies the test binary to where every user may run it.
func openToAll(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "hpad-process-")
	if err != nil {
		t.Skipf("needs a folder that other users can read: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	content, err := os.ReadFile(program(t).absolute)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "worker"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
