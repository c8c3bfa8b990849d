package prometheus

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
)

// TestRealPrometheus asks Debian's Prometheus, which scrapes a page of this test.
func TestRealPrometheus(t *testing.T) {
	page := serveFunc(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "queue{queue=\"web\"} 30\nqueue{queue=\"mail\"} 2.5\nlate %d %d\n",
			7, time.Now().Add(-40*time.Second).UnixMilli())
	})
	server := startPrometheus(t, strings.TrimPrefix(page, "http://"))
	s := openURL(t, server.url)
	server.waitFor(t, s, "late")

	t.Run("a vector is joined and selected", func(t *testing.T) {
		at := time.Now()
		values, err := external(t, s, sources.Query{Text: "queue"}, map[string]string{"queue": "web"}, at)
		if err != nil || len(values) != 1 || values[0] != 30_000 {
			t.Errorf("values are %v, %v, want 30", values, err)
		}
	})
	t.Run("a scalar is a value", func(t *testing.T) {
		values, err := external(t, s, sources.Query{Text: "scalar(queue{queue=\"mail\"}) * 2"}, nil, time.Now())
		if err != nil || len(values) != 1 || values[0] != 5_000 {
			t.Errorf("values are %v, %v, want 5", values, err)
		}
	})
	failures := []struct {
		name, query string
		kind        sources.Kind
		text        string
	}{
		{"0/0 is no number", "queue * 0 / 0", sources.Invalid, "NaN"},
		{"1/0 is infinite", "queue / 0", sources.Invalid, "infinite"},
		{"a typing mistake is a bad query", "sum(queue", sources.BadQuery, "unclosed left parenthesis"},
		{"a query that cannot run is bad", `queue * on () group_left () queue`, sources.BadQuery, "many-to-many"},
		{"a name nobody has is no data", "no_such_thing", sources.NoData, "no series"},
		{"a range vector is no value", "queue[5m]", sources.Invalid, "range vector"},
		{"a string is no value", `"queue"`, sources.Invalid, "string"},
	}
	for _, test := range failures {
		t.Run(test.name, func(t *testing.T) {
			_, err := external(t, s, sources.Query{Text: test.query}, nil, time.Now())
			if err == nil || sources.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error is %v, want %s with %q", err, test.kind, test.text)
			}
		})
	}
	t.Run("an old sample is seen by its own time only", func(t *testing.T) {
		at := time.Now()
		if _, err := external(t, s, sources.Query{Text: "late"}, nil, at); err != nil {
			t.Errorf("without its own time the sample is refused: %v", err)
		}
		_, err := external(t, s, sources.Query{Text: "late # commented", CheckTimestamp: true}, nil, at)
		if sources.KindOf(err) != sources.Stale || err == nil {
			t.Errorf("error is %v, want a stale sample", err)
		}
		_, err = external(t, s, sources.Query{Text: "queue", CheckTimestamp: true}, nil, at)
		if err != nil {
			t.Errorf("a fresh sample is refused: %v", err)
		}
	})
	t.Run("a dead server is unavailable", func(t *testing.T) {
		server.kill()
		_, err := external(t, s, sources.Query{Text: "queue"}, nil, time.Now())
		if sources.KindOf(err) != sources.Unavailable || err == nil {
			t.Errorf("error is %v, want an unavailable source", err)
		}
	})
}

func external(t *testing.T, s *source, q sources.Query, sel map[string]string, at time.Time) ([]algorithm.Quantity, error) {
	t.Helper()
	result, err := s.Query(t.Context(), q, at)
	if err != nil {
		return nil, err
	}
	return sources.External(result.Of(q), sel, 30*time.Second, at)
}

type realServer struct {
	url  string
	kill func()
}

func startPrometheus(t *testing.T, scraped string) *realServer {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		require(t, "prometheus is not installed (Debian: apt-get install prometheus)")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	config := fmt.Sprintf("scrape_configs:\n- job_name: web\n  scrape_interval: 1s\n  static_configs: [{targets: [%q]}]\n", scraped)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dead atomic.Bool
	kill := func() {
		if dead.Swap(true) {
			return
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	}
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("prometheus said:\n%s", said)
		}
	})
	return &realServer{url: "http://" + address, kill: kill}
}

// require skips a test that needs something, or fails it where everything must be there.
func require(t *testing.T, missing string) {
	t.Helper()
	if os.Getenv("CI") == "true" || os.Getenv("HPAD_REQUIRE_ALL") == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// waitFor waits until a query has an answer.
func (r *realServer) waitFor(t *testing.T, s *source, query string) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		result, err := s.Query(t.Context(), sources.Query{Text: query}, time.Now())
		if err == nil && len(result.Series()) > 0 {
			return
		}
		<-tick.C
	}
	t.Fatalf("no answer to %q within 30s", query)
}
