package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hpad/hpad/internal/options"
)

func TestOutputIsAppendedToAFileOfTheInstance(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "worker-1.log")
	if err := os.WriteFile(first, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := activate(t, map[string]any{
		"replicas": int64(2), "restart_backoff": "1m", "output": filepath.Join(dir, "worker-{instance}.log"),
	}, "write", "hello")
	w.logged("instance is restarted")
	for name, want := range map[string]string{"worker-1.log": "before\n", "worker-2.log": ""} {
		path := filepath.Join(dir, name)
		eventually(t, func() error { return holds(path, want+"hello\nhello on stderr\nno line end") })
	}
	if strings.Contains(w.log.text(), "line=hello") {
		t.Error("what goes to a file is in the log too")
	}
}

func holds(path, want string) error {
	text, err := os.ReadFile(path)
	if err == nil && string(text) != want {
		return fmt.Errorf("%s holds %q, want %q", path, text, want)
	}
	return err
}

func TestOutputThatIsDiscardedIsNowhere(t *testing.T) {
	w := activate(t, map[string]any{"restart_backoff": "1m", "output": "discard"}, "write", "hello")
	w.logged("exited with status 0")
	if strings.Contains(w.log.text(), "hello") {
		t.Errorf("the output is in the log:\n%s", w.log.text())
	}
}

func TestOutputFollowsNoLinkAndWaitsForNoReader(t *testing.T) {
	dir := t.TempDir()
	victim, link, pipe := filepath.Join(dir, "victim"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, pipe, dir} {
		if file, err := openOutput(path); err == nil {
			file.Close()
			t.Errorf("%s was opened", path)
		}
	}
	w := activate(t, map[string]any{"output": link}, "serve")
	w.logged("cannot start: cannot open its output: open " + link)
}

func TestOutputIsChecked(t *testing.T) {
	dir := t.TempDir()
	for output, want := range map[string]string{
		"log": "", "discard": "", dir + "/new.log": "", "/no/such/{instance}/log": "",
		"stdout":          `must be "log", "discard" or the absolute path of a file, is "stdout"`,
		"logs/worker.log": `must be "log", "discard" or the absolute path of a file, is "logs/worker.log"`,
		dir + "/":         `must be "log", "discard" or the absolute path of a file, is "` + dir + `/"`,
		dir + "/no/log":   `there is no folder "` + dir + `/no"`,
	} {
		err := (&settings{bindingOptions: bindingOptions{Output: output}}).checkOutput()
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", output, err)
			}
			continue
		}
		if key, message := options.Key(err); key != "output" || message != want {
			t.Errorf("%q: key %q, message %q", output, key, message)
		}
	}
}

func TestLogNamesTheWorkloadOnceItIsKnown(t *testing.T) {
	w := bind(t, nil, "serve")
	w.LabelWorkload("mailer")
	if err := w.Activate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.logged("command=process.test workload=mailer instance=1 pid=")
}
