package webhook

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/pooltest"
	"github.com/hpad/hpad/targets/internal/readme"
	"github.com/hpad/hpad/targets/targettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "hunter2"

// TestContract runs the CGI program of the README as it stands there, with the command of the
// driver exec's.
func TestContract(t *testing.T) {
	targettest.Run(t, targettest.Harness{New: newSubject, Settle: 20 * time.Second})
}

// program is a server with the README's CGI program.
func program(t *testing.T, p *pooltest.Pools) http.Handler {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("openssl is not installed")
		}
		t.Skip("the program needs openssl, which is not installed")
	}
	p.Write("bin/hpad-pool.cgi", readme.Block(t, "README.md", "sh", "#!/bin/sh\n# hpad-pool.cgi"))
	p.Write("secret", secret+"\n")
	return &cgi.Handler{
		Path:   filepath.Join(p.Dir, "bin/hpad-pool.cgi"),
		Env:    []string{"HPAD_POOLS=" + p.Root(), "HPAD_SECRET_FILE=" + filepath.Join(p.Dir, "secret")},
		Stderr: io.Discard,
	}
}

// counter counts the changes that come to the platform.
type counter struct {
	next   http.Handler
	writes atomic.Int32
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if bytes.Contains(body, []byte(`"operation":"set_replicas"`)) {
		c.writes.Add(1)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.next.ServeHTTP(w, r)
}

func newSubject(t *testing.T, replicas int32) *targettest.Subject {
	p := pooltest.New(t, replicas)
	counted := &counter{next: program(t, p)}
	proxy := targettest.NewProxyOf(t, counted)
	table := func(values map[string]any) options.Table { return options.NewTable(p.Dir, values) }
	return &targettest.Subject{
		Connection: openTable(t, table(map[string]any{
			"url": "http://" + proxy.Address() + "/hpad", "secret_file": "secret", "max_concurrent": int64(20),
		})),
		Tables: []options.Table{
			table(map[string]any{"name": "web"}),
			table(map[string]any{"name": "web", "parameters": map[string]any{"region": "eu"}}),
		},
		Other:   table(map[string]any{"name": "mail"}),
		Spec:    p.Wanted,
		Change:  p.Set,
		Remove:  p.End,
		Restore: func() { p.Add(1) },
		Writes:  func() int { return int(counted.writes.Load()) },
		Hang:    proxy.Hang,
		Busy:    p.Deploy,
		Secrets: []string{secret},
	}
}

func openTable(t *testing.T, table options.Table) *connection {
	t.Helper()
	c, err := open(targets.Environment{Log: slog.New(slog.DiscardHandler)}, table)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*connection)
}

// TestTheProgramRefusesWhatIsNotSigned changes the secret, the clock and the body.
func TestTheProgramRefusesWhatIsNotSigned(t *testing.T) {
	p := pooltest.New(t, 1)
	handler := program(t, p)
	forged := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(strings.Replace(string(body), `"web"`, `"wEb"`, 1)))
		handler.ServeHTTP(w, r)
	})
	for _, test := range []struct {
		name   string
		server http.Handler
		late   time.Duration
		secret string
		want   string
	}{
		{"signed", handler, 0, secret, ""},
		{"wrong secret", handler, 0, "other", "401 Unauthorized"},
		{"old", handler, -10 * time.Minute, secret, "401 Unauthorized"},
		{"from the future", handler, 10 * time.Minute, secret, "401 Unauthorized"},
		{"forged", forged, 0, secret, "401 Unauthorized"},
	} {
		proxy := targettest.NewProxyOf(t, test.server)
		p.Write("mine", test.secret)
		c := openTable(t, options.NewTable(p.Dir, map[string]any{"url": "http://" + proxy.Address(), "secret_file": "mine"}))
		c.now = func() time.Time { return time.Now().Add(test.late) }
		target, err := c.Bind(options.NewTable(p.Dir, map[string]any{"name": "web"}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = target.Status(t.Context())
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || targets.ClassOf(err, false) != targets.Denied):
			t.Errorf("%s: error is %v, want a denial with %s", test.name, err, test.want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "mine")); err != nil {
		t.Fatal(err)
	}
}
