package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell is a Command that runs a script in a folder of its own.
func shell(t *testing.T, script string, change ...func(*Options)) (*Command, string) {
	t.Helper()
	dir := t.TempDir()
	o := Defaults()
	o.Command = []string{"sh", "-c", script}
	for _, c := range change {
		c(&o)
	}
	c, err := New(o, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

func timeout(d time.Duration) func(*Options) {
	return func(o *Options) { o.Timeout = options.Duration(d) }
}

func TestRunGivesInputVariablesAndFolderAndReturnsOutputCodeAndLastLine(t *testing.T) {
	c, dir := shell(t, `cat; echo "$HPAD_X $COLOUR $(pwd)"; echo one >&2; printf 'two\a\n\n' >&2; exit 7`, func(o *Options) {
		o.Env = map[string]string{"COLOUR": "red"}
	})
	got, err := c.Run(t.Context(), Call{Input: []byte("in "), Env: map[string]string{"HPAD_X": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "in x red " + dir + "\n"; got.Code != 7 || string(got.Output) != want || got.Remark != "two" {
		t.Errorf("got %d %q %q, want 7 %q two", got.Code, got.Output, got.Remark, want)
	}
}

func TestEnvironmentIsSmall(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "/run/secret")
	t.Setenv("CREDENTIALS_DIRECTORY", "/run/credentials")
	t.Setenv("TOKEN", "hunter2")
	for _, test := range []struct {
		pass []string
		want bool
	}{{nil, false}, {[]string{"CREDENTIALS_DIRECTORY"}, true}} {
		c, _ := shell(t, "env", func(o *Options) { o.PassEnv = test.pass })
		got, err := c.Run(t.Context(), Call{})
		if err != nil {
			t.Fatal(err)
		}
		text := string(got.Output)
		if strings.Contains(text, "hunter2") || strings.Contains(text, "NOTIFY_SOCKET") || !strings.Contains(text, "PATH=") {
			t.Errorf("the environment is %q", text)
		}
		if strings.Contains(text, "/run/credentials") != test.want {
			t.Errorf("with pass_env %q the environment is %q", test.pass, text)
		}
	}
}

func TestArgumentsAreNotReadByAShell(t *testing.T) {
	o := Defaults()
	o.Command = []string{"printf", "%s|", "$HOME; echo", "*"}
	c, err := New(o, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for want, arguments := range map[string][]string{"$HOME; echo|*|": nil, "a b|": {"%s|", "a b"}} {
		got, err := c.Run(t.Context(), Call{Arguments: arguments})
		if err != nil || string(got.Output) != want {
			t.Errorf("got %q, %v, want %q", got.Output, err, want)
		}
	}
}

func TestInputNobodyReadsIsNoError(t *testing.T) {
	c, _ := shell(t, "exec 0<&-; echo fine")
	got, err := c.Run(t.Context(), Call{Input: bytes.Repeat([]byte("x"), 1<<20)})
	if err != nil || string(got.Output) != "fine\n" {
		t.Errorf("got %q, %v", got.Output, err)
	}
}

// TestWholeGroupIsKilledAtTheDeadline has a grandchild that holds the pipe and ignores signals.
func TestWholeGroupIsKilledAtTheDeadline(t *testing.T) {
	c, dir := shell(t, `trap '' TERM INT HUP; echo almost >&2; sh -c 'trap "" TERM; echo $$ > pid; mv pid child; while :; do sleep 100; done'; sleep 100`, timeout(time.Second))
	begin := time.Now()
	_, err := c.Run(t.Context(), Call{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "timeout is 1s") || !strings.Contains(err.Error(), "almost") {
		t.Errorf("error is %v, want one of the deadline", err)
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
	gone(t, filepath.Join(dir, "child"))
}

func TestWholeGroupIsKilledWithItsContext(t *testing.T) {
	c, dir := shell(t, `sh -c 'echo $$ > pid; mv pid child; sleep 100' & wait`)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, Call{})
		done <- err
	}()
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "child")); return err == nil })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	gone(t, filepath.Join(dir, "child"))
}

func TestEndedContextStartsNothing(t *testing.T) {
	c, dir := shell(t, "touch ran")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Run(ctx, Call{}); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrNotStarted) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the command has run")
	}
}

func TestTooMuchOutputIsKilledAndNotCut(t *testing.T) {
	c, _ := shell(t, "echo 12345678; while :; do echo more; done", func(o *Options) { o.MaxOutputBytes = 100 })
	if got, err := c.Run(t.Context(), Call{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %q, %v, want an error", got.Output, err)
	}
	c, _ = shell(t, "printf 1234", func(o *Options) { o.MaxOutputBytes = 4 })
	if got, err := c.Run(t.Context(), Call{}); err != nil || string(got.Output) != "1234" {
		t.Errorf("an answer of just that size: %q, %v", got.Output, err)
	}
}

func TestWhatIsLeftInTheBackgroundStaysAndHoldsNobodyUp(t *testing.T) {
	c, dir := shell(t, "sleep 100 & echo $! > child; echo done")
	begin := time.Now()
	got, err := c.Run(t.Context(), Call{})
	if err != nil || string(got.Output) != "done\n" {
		t.Errorf("got %q, %v", got.Output, err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	pid := pidIn(t, filepath.Join(dir, "child"))
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the background process is gone: %v", err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestASignalIsNoExitCode(t *testing.T) {
	c, _ := shell(t, "echo out; echo why >&2; kill -9 $$")
	got, err := c.Run(t.Context(), Call{})
	if !errors.Is(err, ErrKilled) || !strings.Contains(err.Error(), "killed): why") || len(got.Output) > 0 {
		t.Errorf("got %q, %v", got.Output, err)
	}
}

func TestAProgramThatIsGoneLaterSaysSo(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "pool")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := Defaults()
	o.Command = []string{"./pool"}
	c, err := New(o, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), Call{}); !errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error is %v", err)
	}
}

func TestRunsAtTheSameTimeDoNotMix(t *testing.T) {
	c, _ := shell(t, `cat; echo "$HPAD_N"`)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			n := strconv.Itoa(i)
			got, err := c.Run(t.Context(), Call{Input: []byte(n + " "), Env: map[string]string{"HPAD_N": n}})
			if want := n + " " + n + "\n"; err != nil || string(got.Output) != want {
				t.Errorf("got %q, %v, want %q", got.Output, err, want)
			}
		})
	}
	all.Wait()
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// gone waits for the end of a process; one that nobody reaps is at an end too.
func gone(t *testing.T, file string) {
	t.Helper()
	pid := pidIn(t, file)
	eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

func eventually(t *testing.T, check func() bool) {
	t.Helper()
	deadline := time.After(5 * time.Second)
	for !check() {
		select {
		case <-deadline:
			t.Fatal("it did not happen in 5 s")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
