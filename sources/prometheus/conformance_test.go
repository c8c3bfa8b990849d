package prometheus

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDriverKeepsThePromisesOfASource(t *testing.T) {
	const password = "correct-horse"
	sourcetest.Run(t, sourcetest.Harness{
		Query:  sources.Query{Text: "queue"},
		Name:   "queue",
		Secret: password,
		Open: func(t *testing.T, scene sourcetest.Scene) sources.Source {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "password"), []byte(password+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return openTable(t, options.NewTable(dir, map[string]any{
				"url":                sourcetest.HTTP(t, scene, password, writeVector),
				"max_response_bytes": int64(sourcetest.MaxResponseBytes),
				"basic_auth":         map[string]any{"username": "hpad", "password_file": "password"},
			}))
		},
	})
}

func openTable(t testing.TB, table options.Table) *source {
	t.Helper()
	opened, err := Driver().Open(sources.Environment{Log: slog.New(slog.DiscardHandler)}, table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened.(*source)
}

// openURL opens the driver with all defaults.
func openURL(t testing.TB, url string) *source {
	return openTable(t, options.NewTable("/", map[string]any{"url": url}))
}

func writeVector(w http.ResponseWriter, r *http.Request, scene sourcetest.Scene) {
	at := json.Number(r.FormValue("time"))
	result := []any{}
	for _, s := range scene.Series("queue") {
		value := strconv.FormatFloat(s.Value, 'f', -1, 64)
		result = append(result, map[string]any{"metric": s.Labels, "value": []any{at, value}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"status": "success",
		"data":   map[string]any{"resultType": "vector", "result": result},
	})
}

// serve starts a server that answers every query alike.
func serve(t testing.TB, code int, body string) string {
	return serveFunc(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	})
}
