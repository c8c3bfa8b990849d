package exec

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

const good = `{"version":1,"status":{"spec_replicas":2,"status_replicas":2,"version":"7",` +
	`"instances":[{"id":"1","phase":"running"},{"id":"2","phase":"pending"}]}}`

// script is a target whose command is a shell script; the status is always good.
func script(t *testing.T, set string, more ...string) (targets.Target, string) {
	t.Helper()
	dir := t.TempDir()
	values := map[string]any{
		"command": []any{"sh", "-c", `if [ "$HPAD_OPERATION" = status ]; then echo '` + good + `'; exit 0; fi; ` + set},
	}
	if len(more) > 0 {
		values["timeout"] = more[0]
	}
	c := openTable(t, options.NewTable(dir, values))
	target, err := c.Bind(options.NewTable(dir, map[string]any{"name": "web", "parameters": map[string]any{"region": "eu"}}))
	if err != nil {
		t.Fatal(err)
	}
	return target, dir
}

func from(t *testing.T, target targets.Target) targets.Status {
	t.Helper()
	status, err := target.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func TestTheRequestStandsInTheInputAndInVariables(t *testing.T) {
	target, dir := script(t, `cat > input; env | grep ^HPAD_ | sort > variables`)
	if err := target.SetReplicas(t.Context(), from(t, target), 5); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"input": {`{"version":1,"operation":"set_replicas","target":"web","parameters":{"region":"eu"},` +
			`"from_version":"7","from_replicas":2,"replicas":5,"request_id":"`},
		"variables": {"HPAD_FROM_REPLICAS=2\nHPAD_FROM_VERSION=7\nHPAD_OPERATION=set_replicas\nHPAD_PARAMETER_REGION=eu\n" +
			"HPAD_REPLICAS=5\nHPAD_REQUEST_ID=", "HPAD_TARGET=web\nHPAD_VERSION=1\n"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s is %s, want %s", name, text, part)
			}
		}
	}
}

func TestEveryEndOfAChangeHasItsClass(t *testing.T) {
	for _, test := range []struct {
		set   string
		class targets.Class
		want  string
	}{
		{"echo first >&2; echo why >&2; exit 10", targets.Conflict, "exited with status 10: why"},
		{"exit 11", targets.Busy, "exited with status 11"},
		{"exit 12", targets.Throttled, ""},
		{"exit 13", targets.Capacity, ""},
		{"exit 14", targets.OutOfRange, ""},
		{"exit 15", targets.Blocked, ""},
		{"exit 16", targets.NotFound, ""},
		{"exit 17", targets.Denied, ""},
		{"exit 18", targets.Invalid, ""},
		{"exit 19", targets.Uncertain, ""},
		{"exit 20", targets.Unavailable, ""},
		{"exit 1", targets.Uncertain, "status 1"},
		{"exit 127", targets.Uncertain, "status 127"},
		{"kill -9 $$", targets.Uncertain, "signal"},
		{"echo done", targets.Uncertain, "not the JSON"},
		{"echo '<html>'; exit 16", targets.NotFound, "status 16"},
		{`echo '{"version":1,"error":{"class":"capacity","message":"no room"}}'; exit 1`, targets.Capacity, `scale target "web": no room`},
		{`echo '{"version":1,"error":{"class":"busy"}}'`, targets.Busy, "answers busy"},
		{"yes", targets.Uncertain, "max_output_bytes"},
	} {
		target, _ := script(t, test.set)
		err := target.SetReplicas(t.Context(), from(t, target), 3)
		if err == nil || targets.ClassOf(err, false) != test.class || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v of class %v, want %q of %v", test.set, err, targets.ClassOf(err, false), test.want, test.class)
		}
	}
}

func TestAnAcceptedChangeNeedsNoWords(t *testing.T) {
	for _, set := range []string{"exit 0", `echo '{"version":1}'`, `echo '{"version":1,"accepted":true}'`} {
		target, _ := script(t, set)
		if err := target.SetReplicas(t.Context(), from(t, target), 3); err != nil {
			t.Errorf("%s: %v", set, err)
		}
	}
}

func TestRetryAfterIsPassedOn(t *testing.T) {
	target, _ := script(t, `echo '{"version":1,"error":{"class":"throttled","message":"slow","retry_after":"1m30s"}}'; exit 12`)
	err := target.SetReplicas(t.Context(), from(t, target), 3)
	if got := err.(*targets.Error); got.RetryAfter != 90*time.Second || got.Class != targets.Throttled {
		t.Errorf("error is %+v", got)
	}
}

func TestAChangeCutOffAfterItWasSentIsUncertain(t *testing.T) {
	target, _ := script(t, "sleep 100", "1s")
	if err := target.SetReplicas(t.Context(), from(t, target), 3); targets.ClassOf(err, false) != targets.Uncertain || !strings.Contains(err.Error(), "timeout is 1s") {
		t.Errorf("error is %v, want an uncertain one of the deadline", err)
	}
	target, dir := script(t, "touch begun; sleep 100")
	status := from(t, target)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- target.SetReplicas(ctx, status, 3) }()
	for deadline := time.After(5 * time.Second); ; {
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			break
		}
		select {
		case <-deadline:
			t.Fatal("the change did not begin")
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel()
	if err := <-done; targets.ClassOf(err, false) != targets.Uncertain {
		t.Errorf("error is %v, want an uncertain one", err)
	}
}

func TestAStatusThatIsNoneIsNeverAZero(t *testing.T) {
	for _, status := range []string{"", "true", "echo 0", "echo '{}'", "echo '" + good + "' | head -c 60", "exit 1", "echo '" + good + "'; exit 1"} {
		c := openTable(t, options.NewTable(t.TempDir(), map[string]any{"command": []any{"sh", "-c", status}}))
		target, err := c.Bind(options.NewTable("/", map[string]any{"name": "web"}))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := target.Status(t.Context()); targets.ClassOf(err, false) != targets.Unavailable || err == nil {
			t.Errorf("%q: status %+v, error %v", status, got, err)
		}
	}
}

func TestMistakesInTheTablesAreTold(t *testing.T) {
	for _, test := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{}, "command: is missing"},
		{map[string]any{"command": "sh"}, "command: must be an array of strings"},
		{map[string]any{"command": []any{"sh"}, "timeout": "0s", "comand": "x"}, `comand: unknown key "comand", did you mean "command"?`},
	} {
		_, err := open(targets.Environment{}, options.NewTable("/", test.values))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error is %v, want %s", err, test.want)
		}
	}
	c := openTable(t, options.NewTable("/", map[string]any{"command": []any{"sh"}}))
	for _, test := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{}, "name: is missing"},
		{map[string]any{"name": "a\nb"}, "name: must be at most"},
		{map[string]any{"name": "a", "parameters": map[string]any{"Region": "eu"}}, "parameters.Region: must be a name of"},
		{map[string]any{"name": "a", "parameters": map[string]any{"target": "b"}}, "parameters.target: is a field of"},
		{map[string]any{"name": "a", "parameters": map[string]any{"r": int64(1)}}, "parameters.r: must be a string"},
	} {
		_, err := c.Bind(options.NewTable("/", test.values))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error is %v, want %s", err, test.want)
		}
	}
}
