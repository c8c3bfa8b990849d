package command

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hpad/hpad/internal/options"
)

func TestWrongOptionsAreToldAllAtOnce(t *testing.T) {
	for _, test := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Command = nil }, "command: is missing"},
		{func(o *Options) { o.Command = []string{"no-such-program"} }, `command[0]: cannot run "no-such-program"`},
		{func(o *Options) { o.Command = []string{"sh", "a\x00"} }, "command[1]: must not hold a zero byte"},
		{func(o *Options) { o.Timeout = 0 }, "timeout: must be more than 0 and at most 10m, is 0s"},
		{func(o *Options) { o.Timeout = options.Duration(time.Hour) }, "timeout: must be more"},
		{func(o *Options) { o.MaxOutputBytes = -1 }, "max_output_bytes: must be 1 … 1073741824, is -1"},
		{func(o *Options) { o.Env = map[string]string{"A=B": ""} }, `env."A=B": must be the name of a variable`},
		{func(o *Options) { o.Env = map[string]string{"HPAD_TARGET": ""} }, "env.HPAD_TARGET: is set by hpad"},
		{func(o *Options) { o.Env = map[string]string{"A": "\x00"} }, "env.A: must not hold a zero byte"},
		{func(o *Options) { o.PassEnv = []string{"A", ""} }, "pass_env[1]: must be the name of a variable"},
		{func(o *Options) { o.WorkingDirectory = "/no/such" }, "working_directory: cannot be used"},
		{func(o *Options) { o.WorkingDirectory = "/etc/passwd" }, "working_directory: must be a folder"},
	} {
		o := Defaults()
		o.Command = []string{"sh"}
		o.PassEnv = []string{"HPAD_OTHER"}
		test.change(&o)
		_, err := New(o, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error is %v, want %s", err, test.want)
		}
		if all := options.Split(err); len(o.PassEnv) == 1 && len(all) != 2 {
			t.Errorf("%d errors, want 2: %v", len(all), all)
		}
	}
}

func TestFingerprintIsOfWhatIsRun(t *testing.T) {
	fingerprint := func(change func(*Options)) string {
		o := Defaults()
		o.Command = []string{"sh", "-c", "true"}
		change(&o)
		c, err := New(o, "/")
		if err != nil {
			t.Fatal(err)
		}
		return c.Fingerprint()
	}
	plain := fingerprint(func(*Options) {})
	for name, same := range map[string]func(*Options){
		"env is empty":   func(o *Options) { o.Env = map[string]string{} },
		"folder is told": func(o *Options) { o.WorkingDirectory = "/" },
		"more time":      func(o *Options) { o.Timeout *= 2 },
	} {
		if got := fingerprint(same); got != plain {
			t.Errorf("%s: %s, want %s", name, got, plain)
		}
	}
	for name, other := range map[string]func(*Options){
		"argument": func(o *Options) { o.Command[2] = "false" },
		"env":      func(o *Options) { o.Env = map[string]string{"A": "B"} },
		"folder":   func(o *Options) { o.WorkingDirectory = "/etc" },
	} {
		if got := fingerprint(other); got == plain {
			t.Errorf("%s: the fingerprint is the same", name)
		}
	}
}

func FuzzLineFitsALine(f *testing.F) {
	for _, text := range []string{"", "a\nb", "\x1b[31mred", strings.Repeat("é", 400), "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		if len(line) > 303 || strings.ContainsAny(line, "\n\r\x1b") || !utf8.ValidString(line) {
			t.Errorf("Line(%q) is %q", text, line)
		}
	})
}
