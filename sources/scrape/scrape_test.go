package scrape

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestDriverKeepsThePromisesOfASource(t *testing.T) {
	const password = "correct-horse"
	sourcetest.Run(t, sourcetest.Harness{
		Query:  sources.Query{Text: `queue{instance=~"a|b"}`},
		Name:   "queue",
		Secret: password,
		Open: func(t *testing.T, scene sourcetest.Scene) sources.Source {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "password"), []byte(password), 0o600); err != nil {
				t.Fatal(err)
			}
			return openTable(t, dir, map[string]any{
				"url":                sourcetest.HTTP(t, scene, password, writePage) + "/metrics",
				"max_response_bytes": int64(sourcetest.MaxResponseBytes),
				"basic_auth":         map[string]any{"username": "hpad", "password_file": "password"},
			})
		},
	})
}

func openTable(t testing.TB, dir string, values map[string]any) *source {
	t.Helper()
	opened, err := Driver().Open(sources.Environment{Log: slog.New(slog.DiscardHandler)}, options.NewTable(dir, values))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened.(*source)
}

func writePage(w http.ResponseWriter, _ *http.Request, scene sourcetest.Scene) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = fmt.Fprintln(w, "# HELP queue Messages.\n# TYPE queue gauge\nother 5")
	for _, s := range scene.Series("queue") {
		_, _ = fmt.Fprintf(w, "queue{instance=%q} %v\n", s.Labels["instance"], s.Value)
	}
}

const textPage = `# HELP jobs Jobs done.
# TYPE jobs counter
jobs_total{kind="a b",note="# \"}"} 12
# TYPE latency histogram
latency_bucket{le="0.1"} 3
latency_bucket{le="+Inf"} 4
latency_sum 0.5
latency_count 4
# TYPE wait summary
wait{quantile="0.9"} 1.5
old 7 1767355140500
odd NaN
`

const openPage = `# TYPE jobs counter
# HELP jobs Jobs done.
jobs_total{kind="a b",note="# \"}"} 12 # {trace="1 } 2"} 1 1767355140
# TYPE latency histogram
# UNIT latency seconds
latency_bucket{le="0.1"} 3 # {trace="x"} 0.05
latency_bucket{le="+Inf"} 4
latency_sum 0.5
latency_count 4
wait{quantile="0.9"} 1.5
old 7 1767355140.5
odd NaN
# EOF
`

func TestLongWordsAreNotRepeated(t *testing.T) {
	_, err := parsePage([]byte("queue "+strings.Repeat("x", 1<<16)+"\n"), "text/plain", noon)
	if err == nil || len(err.Error()) > 2*sources.LongestRemark {
		t.Errorf("the error is %.200v…", err)
	}
}

func TestBothFormatsGiveTheSeriesThatStandOnThePage(t *testing.T) {
	tests := []struct{ selector, want string }{
		{`jobs_total`, `{jobs_total a b # "} } 12 0s`},
		{`jobs_total{kind!="a b"}`, ``},
		{`{__name__=~"jobs.*",kind="a b"}`, `{jobs_total a b # "} } 12 0s`},
		{`latency_bucket{le="0.1"}`, `{latency_bucket   0.1} 3 0s`},
		{`latency_bucket`, `{latency_bucket   0.1} 3 0s {latency_bucket   +Inf} 4 0s`},
		{`latency_sum`, `{latency_sum   } 0.5 0s`},
		{`latency_count`, `{latency_count   } 4 0s`},
		{`latency`, ``},
		{`wait{quantile="0.9"}`, `{wait   0.9} 1.5 0s`},
		{`old`, `{old   } 7 59.5s`},
		{`odd`, `{odd   } NaN 0s`},
	}
	for contentType, page := range map[string]string{"text/plain": textPage, "application/openmetrics-text; version=1.0.0": openPage} {
		series, err := parsePage([]byte(page), contentType, noon)
		if err != nil {
			t.Fatalf("%s: %v", contentType, err)
		}
		whole := sources.NewResult(series, nil)
		for _, test := range tests {
			matchers, err := parseSelector(test.selector)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range selectSeries(whole, matchers) {
				l := s.Labels
				got = append(got, fmt.Sprintf("{%s %s %s %s} %v %v", l["__name__"], l["kind"], l["note"], l["le"]+l["quantile"], s.Value, noon.Sub(s.Time)))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", contentType, test.selector, diff)
			}
		}
	}
}

func TestPageIsReadOncePerEvaluationTime(t *testing.T) {
	var reads atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads.Add(1)
		writePage(w, r, sourcetest.Answers)
	}))
	t.Cleanup(server.Close)
	s := openTable(t, "/", map[string]any{"url": server.URL})
	for _, text := range []string{"queue", "other", `queue{instance="a"}`, "queue"} {
		if _, err := s.Query(t.Context(), sources.Query{Text: text}, noon); err != nil {
			t.Fatal(err)
		}
	}
	if got := reads.Load(); got != 1 {
		t.Errorf("the page was read %d times for one evaluation, want 1", got)
	}
	if _, err := s.Query(t.Context(), sources.Query{Text: "queue"}, noon.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := reads.Load(); got != 2 {
		t.Errorf("the page was read %d times for two evaluations, want 2", got)
	}
}

func TestWhatIsNoPageIsAnError(t *testing.T) {
	tests := []struct{ name, contentType, body, want string }{
		{"people's page", "text/html; charset=utf-8", "<html>", "must be text/plain"},
		{"people's page in disguise", "", "<html>", "cannot parse"},
		{"protobuf", "application/vnd.google.protobuf", "", "must be text/plain"},
		{"cut off", "text/plain", "x 1\ny 1", "cannot parse"},
		{"cut off, OpenMetrics", "application/openmetrics-text", "x 1\n", "# EOF"},
		{"no value", "text/plain", "x\n", "cannot parse"},
		{"no value, OpenMetrics", "application/openmetrics-text", "x{a=\"b\"}\n# EOF\n", "line 1"},
		{"a word", "text/plain", "x many\n", "cannot parse"},
		{"a time that is none", "application/openmetrics-text", "x 1 noon\n# EOF\n", "number of seconds"},
		{"too much", "application/openmetrics-text", "x 1 2 3\n# EOF\n", "line 1"},
		{"open label", "text/plain", "x{a=\"b 1\n", "cannot parse"},
	}
	for _, test := range tests {
		series, err := parsePage([]byte(test.body), test.contentType, noon)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: series %v and error %v, want an error with %q", test.name, series, err, test.want)
		}
	}
}

func TestOnlyPlainSelectorsAreTaken(t *testing.T) {
	s := openTable(t, "/", map[string]any{"url": "http://localhost/metrics"})
	for _, text := range []string{`sum(x)`, `x[5m]`, `x offset 5m`, `x @ 1`, `x + 1`, `1`, `x{a=}`, ``} {
		if err := s.CheckQuery(sources.Query{Text: text}); sources.KindOf(err) != sources.BadQuery || err == nil {
			t.Errorf("%q: error is %v, want a bad query", text, err)
		}
	}
	for _, text := range []string{`x`, `x{a="b",c=~"d.*",e!="f",g!~"h"}`, `{__name__="x"}`, `{"a.b"}`} {
		if err := s.CheckQuery(sources.Query{Text: text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
