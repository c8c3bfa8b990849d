package http

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
		Query:  sources.Query{Text: `.queues[*]{instance=.host}.length`},
		Secret: password,
		Open: func(t *testing.T, scene sourcetest.Scene) sources.Source {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "password"), []byte(password), 0o600); err != nil {
				t.Fatal(err)
			}
			return openTable(t, dir, map[string]any{
				"url":                sourcetest.HTTP(t, scene, password, writeQueues) + "/queues",
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

// writeQueues writes numbers as texts where JSON has none.
func writeQueues(w http.ResponseWriter, _ *http.Request, scene sourcetest.Scene) {
	queues := []map[string]any{}
	for _, s := range scene.Series("") {
		var length any = s.Value
		if math.IsNaN(s.Value) {
			length = fmt.Sprint(s.Value)
		}
		queues = append(queues, map[string]any{"host": s.Labels["instance"], "length": length})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"queues": queues})
}

func TestDocumentIsReadOncePerEvaluationTime(t *testing.T) {
	var reads atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"reads":%d,"other":7}`, reads.Add(1))
	}))
	t.Cleanup(server.Close)
	s := openTable(t, "/", map[string]any{"url": server.URL})
	for i, at := range []time.Time{noon, noon.Add(time.Second)} {
		for _, text := range []string{".reads", ".other", ".reads"} {
			result, err := s.Query(t.Context(), sources.Query{Text: text}, at)
			if err != nil {
				t.Fatal(err)
			}
			want := float64(i + 1)
			if text == ".other" {
				want = 7
			}
			if got := result.Series(); len(got) != 1 || got[0].Value != want || !got[0].Time.Equal(at) {
				t.Errorf("%s at %v is %v, want %v", text, at, got, want)
			}
		}
	}
	if got := reads.Load(); got != 2 {
		t.Errorf("the document was read %d times for two evaluations, want 2", got)
	}
}

func TestStatusesAndMissingValuesHaveTheirKind(t *testing.T) {
	for _, test := range []struct {
		code int
		body string
		kind sources.Kind
		want string
	}{
		{404, `{"a":1}`, sources.Garbled, "is the url that of a JSON document?"},
		{429, `{"a":1}`, sources.Unavailable, "429"},
		{200, `{"b":1}`, sources.NoData, `finds no "a" at .`},
		{200, `{"a":null}`, sources.Invalid, "finds null"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.code)
			_, _ = w.Write([]byte(test.body))
		}))
		s := openTable(t, "/", map[string]any{"url": server.URL})
		_, err := s.Query(t.Context(), sources.Query{Text: ".a"}, noon)
		if err == nil || sources.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d %s: error is %v of kind %v, want %q of %v", test.code, test.body, err, sources.KindOf(err), test.want, test.kind)
		}
		server.Close()
	}
}

func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	sourcetest.README(t, Driver(), Defaults())
}
