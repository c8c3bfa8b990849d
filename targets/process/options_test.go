package process

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

type values = map[string]any

func TestAllMistakesInTheTableAreReported(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := []any{ownProgram}
	for _, test := range []struct {
		values values
		want   []string // beginnings
	}{
		{values{}, []string{"command: must name a program"}},
		{values{"command": []any{}}, []string{"command: must name a program"}},
		{values{"command": []any{""}}, []string{"command: must name a program"}},
		{values{"command": "worker"}, []string{"command: must be an array of strings"}},
		{values{"command": []any{"./absent"}}, []string{`command[0]: cannot run "` + dir + `/absent": `}},
		{values{"command": []any{"./text"}}, []string{`command[0]: cannot run "` + dir + `/text": permission denied`}},
		{values{"command": []any{dir}}, []string{`command[0]: cannot run "` + dir + `": is a directory`}},
		{values{"command": []any{"no-such-program"}}, []string{`command[0]: cannot run "no-such-program": executable file not found in $PATH`}},
		{values{"command": []any{ownProgram, "{port}", "a\x00"}}, []string{"command[1]: holds {port}, but port", "command[2]: must not hold a zero"}},
		{values{"command": own, "env": values{"A": "{port}", "B=": "", "HPAD_PORT": "1"}}, []string{"env.A: holds {port}", `env."B=": must be the name`, "env.HPAD_PORT: is set by hpad"}},
		{values{"command": own, "working_directory": "absent"}, []string{"working_directory: cannot be used: "}},
		{values{"command": own, "working_directory": "text"}, []string{"working_directory: must be a folder"}},
		{values{"command": own, "user": "no-such-user"}, []string{`user: there is no user "no-such-user"`}},
		{values{"command": own, "replicas": int64(-1), "port": int64(65536)}, []string{"replicas: must be >= 0", "port: must be from 1 to 65535"}},
		{values{"command": own, "port": int64(65530), "replicas": int64(7)}, []string{"replicas: must be <= 6 with port 65530, is 7"}},
		{values{"command": own, "restart_backoff": "0s"}, []string{"restart_backoff: must be > 0s, is 0s"}},
		{values{"command": own, "restart_backoff": "2m"}, []string{"restart_backoff_max: must be >= restart_backoff 2m, is 1m"}},
		{values{"command": own, "healthy_after": "-1s", "stop_grace": "-1s"}, []string{"healthy_after: must be >= 0s", "stop_grace: must be >= 0s"}},
		{values{"command": own, "stop_signal": "TERM"}, []string{`stop_signal: must be a signal such as "SIGTERM"`}},
		{values{"command": own, "ready_http": "/"}, []string{"ready_http: needs port"}},
		{values{"command": own, "port": int64(80), "ready_http": "healthz"}, []string{"ready_http: must be a path"}},
		{values{"command": own, "portt": int64(80)}, []string{`portt: unknown key "portt", did you mean "port"?`}},
	} {
		_, err := read(options.NewTable(dir, test.values))
		problems := options.Split(err)
		if len(problems) != len(test.want) {
			t.Errorf("%v: problems are %q", test.values, problems)
			continue
		}
		for i, problem := range problems {
			if !strings.HasPrefix(problem.Error(), test.want[i]) {
				t.Errorf("%v: problem is %q, want %q…", test.values, problem, test.want[i])
			}
		}
	}
}

func TestConnectionHasNoKeys(t *testing.T) {
	_, err := Driver().Open(targets.Environment{Log: slog.New(slog.DiscardHandler)}, options.NewTable("/", values{"host": "x"}))
	var problem *options.KeyError
	if !errors.As(err, &problem) || problem.Key != "host" {
		t.Errorf("Open says %v", err)
	}
}

func TestProgramIsFoundInPathAndBesideTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "worker")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/nowhere:"+dir)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, dir, want string }{
		{"worker", "/", path},
		{"./worker", dir, path},
		{"../" + filepath.Base(dir) + "/worker", dir, path},
		{path, "/", path},
		{ownProgram, "/", own},
	} {
		set, err := read(options.NewTable(test.dir, values{"command": []any{test.name}}))
		if err != nil {
			t.Errorf("%q: %v", test.name, err)
			continue
		}
		if set.program != test.want {
			t.Errorf("%q is %q, want %q", test.name, set.program, test.want)
		}
	}
}

func TestIDFollowsFromWhatTheProcessesAre(t *testing.T) {
	base := values{"command": []any{ownProgram, "serve"}}
	with := func(key string, value any) values {
		more := maps.Clone(base)
		more[key] = value
		return more
	}
	same := []values{
		base, with("env", values{}), with("replicas", int64(7)), with("stop_grace", "1s"), with("stop_signal", "SIGINT"),
		with("restart_backoff", "2s"), with("healthy_after", "2s"),
	}
	different := []values{
		with("env", values{"A": "1"}), with("env", values{"A": "2"}), with("port", int64(80)), with("port", int64(81)),
		with("working_directory", "/"), with("command", []any{ownProgram}), with("command", []any{ownProgram, "serve", ""}),
	}
	first := idOf(t, base)
	for _, v := range same {
		if got := idOf(t, v); got != first {
			t.Errorf("%v has the ID %q, want %q", v, got, first)
		}
	}
	seen := map[string]values{first: base}
	for _, v := range different {
		id := idOf(t, v)
		if seen[id] != nil {
			t.Errorf("%v and %v have one ID", v, seen[id])
		}
		seen[id] = v
	}
}

func idOf(t *testing.T, v values) string {
	t.Helper()
	set, err := read(options.NewTable("/", v))
	if err != nil {
		t.Fatal(err)
	}
	return set.id()
}

func TestDriverIsMeasuredByTheProcessSource(t *testing.T) {
	d := Driver()
	if diff := cmp.Diff(targets.ResourceSource{Driver: "process"}, d.Resource); diff != "" || d.Name != "process" {
		t.Errorf("driver %q:\n%s", d.Name, diff)
	}
}
