package daemon

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/daemon/api"
)

// ask sends a request to the routes, without a network.
func (w *world) ask(method, path string, privileged bool) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(context.Background(), method, path, nil)
	w.daemon.routes(func() bool { return privileged }).ServeHTTP(answer, request)
	return answer
}

func TestRoutes(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(2 * time.Second)
		for _, c := range []struct {
			name, method, path string
			privileged         bool
			status             int
			contains           string
		}{
			{"health", "GET", "/-/healthy", false, 200, "healthy"},
			{"health without a body", "HEAD", "/-/healthy", false, 200, ""},
			{"readiness", "GET", "/-/ready", false, 200, "ready"},
			{"landing page", "GET", "/", false, 200, "/metrics"},
			{"metrics", "GET", "/metrics", false, 200, `hpad_workload_spec_replicas{workload="web"} 2`},
			{"list", "GET", "/api/v1/workloads", false, 200, `"name":"web"`},
			{"one", "GET", "/api/v1/workloads/web", false, 200, `"desired_replicas":4`},
			{"unknown workload", "GET", "/api/v1/workloads/nope", false, 404, `"field":"name"`},
			{"unknown path", "GET", "/nope", false, 404, `"title":"Not Found"`},
			{"wrong method", "POST", "/api/v1/workloads", false, 405, "use GET or HEAD"},
			{"reload by reading", "GET", "/-/reload", true, 405, "use POST or PUT"},
			{"reload by anybody", "POST", "/-/reload", false, 403, "daemon.socket"},
			{"reload", "POST", "/-/reload", true, 200, "reloaded"},
			{"reload by PUT", "PUT", "/-/reload", true, 200, "reloaded"},
		} {
			answer := w.ask(c.method, c.path, c.privileged)
			if answer.Code != c.status || !strings.Contains(answer.Body.String(), c.contains) {
				t.Errorf("%s: %d %q, want %d with %q", c.name, answer.Code, answer.Body.String(), c.status, c.contains)
			}
			isProblem := answer.Header().Get("Content-Type") == "application/problem+json"
			if isProblem != (c.status >= 400) {
				t.Errorf("%s: content type %q", c.name, answer.Header().Get("Content-Type"))
			}
		}
	})
}

func TestFailedReloadAnswersWithAllProblems(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		w.write(queueWorkload("web", "q", "one_unknown = 1", "other_unknown = 2"))
		answer := w.ask("POST", "/-/reload", true)
		var problem api.Problem
		if err := json.Unmarshal(answer.Body.Bytes(), &problem); err != nil {
			t.Fatal(err)
		}
		if answer.Code != 500 || !strings.Contains(problem.Detail, "one_unknown") || !strings.Contains(problem.Detail, "other_unknown") {
			t.Errorf("%d %+v, want 500 with both problems", answer.Code, problem)
		}
	})
}

func TestOpenMetricsIsNegotiated(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.write()
		w.start()
		pass(time.Second)
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(context.Background(), "GET", "/metrics", nil)
		request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
		w.daemon.routes(func() bool { return false }).ServeHTTP(answer, request)
		if !strings.HasSuffix(answer.Body.String(), "# EOF\n") {
			t.Error("the answer is not OpenMetrics")
		}
	})
}

func TestAuthenticationIsReadFromTheWebConfiguration(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"passwords", "basic_auth_users:\n  ann: $2y$10$abc\n", true},
		{"checked certificates", "tls_server_config:\n  cert_file: a\n  client_auth_type: RequireAndVerifyClientCert\n", true},
		{"any certificate", "tls_server_config:\n  client_auth_type: RequireAnyClientCert\n", false},
		{"only encryption", "tls_server_config:\n  cert_file: a\n  key_file: b\n", false},
		{"nothing", "", false},
		{"garbage", "\x00::", false},
	} {
		path := filepath.Join(t.TempDir(), "web.yml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := authenticates(path); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
	if authenticates("") || authenticates("/nonexistent") {
		t.Error("no file authenticates somebody")
	}
}

// startListening runs a daemon that listens on TCP and on a socket.
func startListening(t *testing.T, daemonKeys string) (w *world, address, socket string) {
	w = newWorld(t)
	w.targets.Add("web", 2)
	w.source.Value("q", 20)
	socket = filepath.Join(t.TempDir(), "hpad.sock")
	address = freeAddress(t)
	text := strings.Replace(head, `listen = ""`, `listen = "`+address+`"`+"\n"+daemonKeys, 1)
	text = strings.Replace(text, `socket = ""`, `socket = "`+socket+`"`, 1)
	w.writeAll(text + queueWorkload("web", "q"))
	w.start()
	return w, address, socket
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// eventually asks until it is answered, for the daemon takes its time to listen.
func eventually(t *testing.T, client *http.Client, method, url string) (int, string) {
	t.Helper()
	defer client.CloseIdleConnections()
	var failed error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		request, err := http.NewRequestWithContext(context.Background(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			failed = err
			continue
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	t.Fatal(failed)
	return 0, ""
}

func TestReloadTakesTheSocketUnlessTCPAuthenticates(t *testing.T) {
	_, address, socket := startListening(t, "")
	overSocket := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	if status, body := eventually(t, overSocket, "POST", "http://hpad/-/reload"); status != 200 {
		t.Errorf("over the socket: %d %s", status, body)
	}
	if status, _ := eventually(t, &http.Client{Transport: &http.Transport{}}, "POST", "http://"+address+"/-/reload"); status != 403 {
		t.Errorf("over TCP: %d, want 403", status)
	}
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o660 {
		t.Errorf("the socket has mode %o, want 660", mode)
	}
}

func TestPasswordProtectsTCP(t *testing.T) {
	web := filepath.Join(t.TempDir(), "web.yml")
	// The password is "test".
	text := "basic_auth_users:\n  ann: $2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay\n"
	if err := os.WriteFile(web, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, address, _ := startListening(t, `web_config_file = "`+web+`"`)
	client := &http.Client{Transport: &http.Transport{}}
	if status, _ := eventually(t, client, "GET", "http://"+address+"/metrics"); status != 401 {
		t.Errorf("without a password: %d, want 401", status)
	}
	if status, body := eventually(t, client, "POST", "http://ann:test@"+address+"/-/reload"); status != 200 {
		t.Errorf("a reload with a password: %d %s", status, body)
	}
}

func TestTakenAddressIsAFailureOfTheStart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := newWorld(t)
	w.writeAll(strings.Replace(head, `listen = ""`, `listen = "`+l.Addr().String()+`"`, 1))
	w.endsBadly = true
	w.start()
	// Run ends by itself; stop only returns what it ended with.
	if err := w.stop(); err == nil || !strings.Contains(err.Error(), "cannot listen on") {
		t.Errorf("Run: %v, want an error that names the address", err)
	}
}

func TestSocketThatWasLeftBehindIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenSocket(path); err == nil {
		t.Error("a socket that is in use was taken over")
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	l, err := listenSocket(path)
	if err != nil {
		t.Fatalf("a socket nobody listens on was not replaced: %v", err)
	}
	l.Close()
}
