package exec

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// scenes is a command that plays the scene of its first argument.
const scenes = `#!/bin/sh
good='{"queues":[{"host":"a","length":1},{"host":"b","length":2.5}]}'
case $1 in
answers) echo "$good" ;;
empty) echo '{"queues":[]}' ;;
"not a number") echo '{"queues":[{"host":"a","length":"NaN"}]}' ;;
fails) echo "out of order" >&2; exit 1 ;;
denies) echo "who are you?" >&2; exit 17 ;;
hangs) sleep 100; echo "$good" ;;
"login page") echo '<html>Please log in</html>' ;;
truncated) printf '%.30s' "$good" ;;
"too large") while :; do echo "$good"; done ;;
noise) head -c 512 /dev/urandom ;;
esac
`

func TestDriverKeepsThePromisesOfASource(t *testing.T) {
	for name, more := range map[string][]any{"of paths": nil, "of the command": {"{query}"}} {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, sourcetest.Harness{
				Query: sources.Query{Text: `.queues[*]{instance=.host}.length`},
				Open: func(t *testing.T, scene sourcetest.Scene) sources.Source {
					return play(t, scene, more)
				},
			})
		})
	}
}

func play(t *testing.T, scene sourcetest.Scene, more []any) sources.Source {
	dir := t.TempDir()
	program := filepath.Join(dir, "play")
	if err := os.WriteFile(program, []byte(scenes), 0o755); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"command": append([]any{"./play", string(scene)}, more...), "max_output_bytes": int64(sourcetest.MaxResponseBytes)}
	if more != nil {
		values["path"] = `.queues[*]{instance=.host}.length`
	}
	s := openTable(t, dir, values)
	if scene == sourcetest.Refuses {
		if err := os.Remove(program); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func openTable(t *testing.T, dir string, values map[string]any) *source {
	t.Helper()
	opened, err := Driver().Open(sources.Environment{Log: slog.New(slog.DiscardHandler)}, options.NewTable(dir, values))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened.(*source)
}

func value(t *testing.T, s *source, query string, at time.Time) string {
	t.Helper()
	result, err := s.Query(t.Context(), sources.Query{Text: query}, at)
	if err != nil {
		return err.Error()
	}
	var got []string
	for _, series := range result.Series() {
		got = append(got, fmt.Sprint(series.Value))
	}
	return strings.Join(got, " ")
}

func TestCommandRunsOncePerEvaluationTimeForPaths(t *testing.T) {
	s := openTable(t, t.TempDir(), map[string]any{"command": []any{"sh", "-c", `echo >>runs; echo "{\"n\":$(wc -l <runs),\"m\":[7]}"`}})
	for i, at := range []time.Time{noon, noon.Add(time.Second)} {
		if got := value(t, s, ".n", at) + " " + value(t, s, ".m[0]", at) + " " + value(t, s, ".n", at); got != fmt.Sprintf("%d 7 %d", i+1, i+1) {
			t.Errorf("evaluation %d gives %s", i, got)
		}
	}
}

func TestQueryTakesItsPlaceAmongTheArgumentsAsItStands(t *testing.T) {
	s := openTable(t, "/", map[string]any{"command": []any{"printf", "%s", "[{query}]"}, "path": ".[*]"})
	for query, want := range map[string]string{"1": "1", "2,3": "2 3", "$((1+1))": "is not JSON"} {
		if got := value(t, s, query, noon); !strings.Contains(got, want) {
			t.Errorf("%s is %s, want %s", query, got, want)
		}
	}
	plain := openTable(t, "/", map[string]any{"command": []any{"sh", "-c", `[ "$1" = "$HPAD_QUERY" ] && echo 4`, "sh", "{query}"}})
	if got := value(t, plain, "x y", noon); got != "4" {
		t.Errorf("a number alone is %s, want 4", got)
	}
}

func TestExitCodesHaveTheirKind(t *testing.T) {
	for code, kind := range map[int]sources.Kind{1: sources.Unavailable, 16: sources.NoData, 17: sources.Denied, 18: sources.BadQuery, 20: sources.Unavailable, 127: sources.Unavailable} {
		s := openTable(t, "/", map[string]any{"command": []any{"sh", "-c", fmt.Sprintf("echo 1; echo why >&2; exit %d", code)}})
		_, err := s.Query(t.Context(), sources.Query{Text: "."}, noon)
		if err == nil || sources.KindOf(err) != kind || !strings.HasSuffix(err.Error(), fmt.Sprintf("exited with status %d: why", code)) {
			t.Errorf("%d: error is %v of kind %v, want %v", code, err, sources.KindOf(err), kind)
		}
	}
}

func TestQueriesAreCheckedAsWhatTheyAre(t *testing.T) {
	paths := openTable(t, "/", map[string]any{"command": []any{"true"}})
	words := openTable(t, "/", map[string]any{"command": []any{"true", "{query}"}})
	for _, test := range []struct {
		source *source
		query  sources.Query
		want   string
	}{
		{paths, sources.Query{Text: ".a"}, ""},
		{paths, sources.Query{Text: "llen mail"}, "a full stop must stand"},
		{paths, sources.Query{Text: ".a", CheckTimestamp: true}, "has no @time"},
		{words, sources.Query{Text: "llen mail"}, ""},
		{words, sources.Query{Text: " "}, "is empty"},
		{words, sources.Query{Text: "\x00"}, "zero byte"},
		{words, sources.Query{Text: "a", CheckTimestamp: true}, "@time in the source's path"},
	} {
		err := test.source.CheckQuery(test.query)
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || sources.KindOf(err) != sources.BadQuery) {
			t.Errorf("%+v: error is %v, want %q", test.query, err, test.want)
		}
	}
}

func TestMistakesInTheTableAreTold(t *testing.T) {
	for _, test := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{"path": ".a"}, "command: is missing"},
		{map[string]any{"command": []any{"true"}, "path": ".a"}, "path: is of use only"},
		{map[string]any{"command": []any{"true", "{query}"}, "path": "a"}, "path: has \"a\" at position 1"},
		{map[string]any{"command": []any{"true"}, "url": "x"}, `url: unknown key "url"`},
	} {
		_, err := Driver().Open(sources.Environment{}, options.NewTable("/", test.values))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error is %v, want %s", err, test.want)
		}
	}
}

func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	sourcetest.README(t, Driver(), Defaults())
}
