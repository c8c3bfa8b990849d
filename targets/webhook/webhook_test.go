package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
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

// server answers a status well, and a change as the handler does.
func server(t *testing.T, set http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"operation":"status"`) {
			_, _ = io.WriteString(w, good)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		set(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func bind(t *testing.T, dir string, values map[string]any) targets.Target {
	t.Helper()
	c := openTable(t, options.NewTable(dir, values))
	t.Cleanup(func() { _ = c.Close() })
	target, err := c.Bind(options.NewTable(dir, map[string]any{"name": "web"}))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// change asks for three replicas.
func change(t *testing.T, target targets.Target) error {
	t.Helper()
	from, err := target.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return target.SetReplicas(t.Context(), from, 3)
}

// TestSignatureIsThatOfOpenSSL has the answer of
// printf '1767355200.{}\n' | openssl dgst -sha256 -hmac hunter2.
func TestSignatureIsThatOfOpenSSL(t *testing.T) {
	const want = "1932e5eb6a0cd9e1242dc59effbc4145209fedaa0ed0731f2a20e50d9e37fa2d"
	if got := sign("hunter2", "1767355200", []byte("{}\n")); got != want {
		t.Errorf("signature is %s, want %s", got, want)
	}
}

func TestRequestsAreSignedAnewAndChangesHaveAKey(t *testing.T) {
	var got []http.Header
	var bodies []string
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, bodies = append(got, r.Header), append(bodies, string(body))
		_, _ = io.WriteString(w, `{"version":1}`)
	})
	dir := t.TempDir()
	target := bind(t, dir, map[string]any{"url": url, "secret_file": "secret"})
	for i, word := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(word+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := change(t, target); err != nil {
			t.Fatal(err)
		}
		h := got[i]
		if want := "sha256=" + sign(word, h.Get(timestampHeader), []byte(bodies[i])); h.Get(signatureHeader) != want {
			t.Errorf("signature is %s, want %s", h.Get(signatureHeader), want)
		}
		if key := h.Get(idempotencyHeader); len(key) < 16 || !strings.Contains(bodies[i], `"request_id":"`+key+`"`) {
			t.Errorf("the key is %q, the body %s", key, bodies[i])
		}
	}
	if got[0].Get(idempotencyHeader) == got[1].Get(idempotencyHeader) {
		t.Error("two changes have one key")
	}
	if err := os.Remove(filepath.Join(dir, "secret")); err != nil {
		t.Fatal(err)
	}
	if _, err := target.Status(t.Context()); targets.ClassOf(err, false) != targets.Denied || !strings.Contains(err.Error(), "cannot read secret") {
		t.Errorf("without its secret: %v", err)
	}
}

func TestEveryStatusOfAChangeHasItsClass(t *testing.T) {
	for code, class := range map[int]targets.Class{
		301: targets.Invalid, 308: targets.Invalid,
		400: targets.Invalid, 405: targets.Invalid, 413: targets.Invalid, 422: targets.Invalid, 418: targets.Invalid,
		401: targets.Denied, 403: targets.Denied, 407: targets.Denied,
		404: targets.NotFound, 410: targets.NotFound,
		409: targets.Conflict, 412: targets.Conflict,
		423: targets.Busy, 429: targets.Throttled, 507: targets.Capacity,
		501: targets.Unavailable, 503: targets.Unavailable,
		500: targets.Uncertain, 502: targets.Uncertain, 504: targets.Uncertain, 408: targets.Uncertain, 425: targets.Uncertain,
		202: targets.Uncertain, 200: targets.Uncertain,
	} {
		target := bind(t, "/", map[string]any{"url": server(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "<html>page</html>")
		})})
		err := change(t, target)
		if err == nil || targets.ClassOf(err, false) != class || strings.Contains(err.Error(), "page") {
			t.Errorf("%d: error is %v of class %v, want %v", code, err, targets.ClassOf(err, false), class)
		}
		var classed *targets.Error
		errors.As(err, &classed)
		if wait := class == targets.Throttled || class == targets.Busy || class == targets.Unavailable; wait != (classed.RetryAfter == 90*time.Second) {
			t.Errorf("%d: retry after %v", code, classed.RetryAfter)
		}
	}
}

func TestAnErrorOfTheContractSaysMoreThanTheStatus(t *testing.T) {
	for _, code := range []int{200, 400, 500, 503} {
		target := bind(t, "/", map[string]any{"url": server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, `{"version":1,"error":{"class":"capacity","message":"no room"}}`)
		})})
		if err := change(t, target); targets.ClassOf(err, true) != targets.Capacity || !strings.HasSuffix(err.Error(), "no room") {
			t.Errorf("%d: %v", code, err)
		}
	}
	target := bind(t, "/", map[string]any{"url": server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"version":1,"error":{"class":"denied","message":"your token hunter2 is old"}}`)
	})})
	if err := change(t, target); targets.ClassOf(err, true) != targets.Denied || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a denial is %v", err)
	}
}

func TestAChangeIsAcceptedByWordsOrByNoContent(t *testing.T) {
	for _, answer := range []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"version":1,"newer":0}`) },
	} {
		if err := change(t, bind(t, "/", map[string]any{"url": server(t, answer)})); err != nil {
			t.Error(err)
		}
	}
	if err := change(t, bind(t, "/", map[string]any{"url": server(t, func(http.ResponseWriter, *http.Request) {})})); targets.ClassOf(err, true) != targets.Uncertain {
		t.Errorf("an empty answer is %v, want an uncertain one", err)
	}
}

func TestAChangeCutOffAfterItWasSentIsUncertain(t *testing.T) {
	begun := make(chan struct{}, 1)
	hang := func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	}
	target := bind(t, "/", map[string]any{"url": server(t, hang), "timeout": "200ms"})
	if err := change(t, target); targets.ClassOf(err, false) != targets.Uncertain || !strings.Contains(err.Error(), "timeout is 200ms") {
		t.Errorf("error is %v, want an uncertain one of the deadline", err)
	}
	<-begun
	target = bind(t, "/", map[string]any{"url": server(t, hang)})
	ctx, cancel := context.WithCancel(t.Context())
	from, err := target.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- target.SetReplicas(ctx, from, 3) }()
	<-begun
	cancel()
	if err := <-done; targets.ClassOf(err, false) != targets.Uncertain {
		t.Errorf("error is %v, want an uncertain one", err)
	}
}

func TestNobodyThereIsUnavailable(t *testing.T) {
	target := bind(t, "/", map[string]any{"url": "http://127.0.0.1:1"})
	if _, err := target.Status(t.Context()); targets.ClassOf(err, true) != targets.Unavailable {
		t.Errorf("error is %v", err)
	}
}

func TestAStatusThatIsNoneIsNeverAZero(t *testing.T) {
	for _, body := range []string{"", "0", "{}", good[:80], "<html>Please log in</html>", strings.Repeat(" ", 2<<20) + good} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		got, err := bind(t, "/", map[string]any{"url": s.URL}).Status(t.Context())
		if err == nil || targets.ClassOf(err, false) != targets.Unavailable {
			t.Errorf("%.20q: status %+v, error %v", body, got, err)
		}
		s.Close()
	}
}

func TestOneServerIsOneNamespace(t *testing.T) {
	namespace := func(url string) string {
		return openTable(t, options.NewTable("/", map[string]any{"url": url})).Namespace()
	}
	want := namespace("https://pools.example.com/hpad")
	for _, same := range []string{"https://POOLS.example.com:443/hpad", "https://pools.example.com/hpad/"} {
		if got := namespace(same); got != want {
			t.Errorf("%s is %s, want %s", same, got, want)
		}
	}
	for _, other := range []string{"http://pools.example.com/hpad", "https://pools.example.com:8443/hpad", "https://pools.example.com/HPAD", "https://[::1]/hpad"} {
		if got := namespace(other); got == want {
			t.Errorf("%s is %s too", other, got)
		}
	}
}

func TestMistakesInTheTableAreTold(t *testing.T) {
	for _, test := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{}, "url: is missing"},
		{map[string]any{"url": "http://h/?token=hunter2"}, "url: must have no part behind ?"},
		{map[string]any{"url": "http://h", "follow_redirects": true}, "follow_redirects: must be false"},
		{map[string]any{"url": "http://h", "secret": "hunter2"}, "secret: "},
	} {
		_, err := open(targets.Environment{}, options.NewTable("/", test.values))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error is %v, want %s", err, test.want)
		}
	}
}

func FuzzRetryAfterIsWithinBounds(f *testing.F) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "90": 90 * time.Second, "-1": 0, "4294967295": longestWait, "soon": 0,
		"Fri, 02 Jan 2026 12:01:00 GMT": time.Minute, "Fri, 02 Jan 2026 11:00:00 GMT": 0, "Fri, 02 Jan 2099 11:00:00 GMT": longestWait,
	} {
		if got := retryAfter(text, now); got != want {
			f.Errorf("%q is %v, want %v", text, got, want)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := retryAfter(text, now); got < 0 || got > longestWait {
			t.Errorf("%q is %v", text, got)
		}
	})
}
