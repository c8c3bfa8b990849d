package httpclient

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTokenServerThatNeverAnswersHoldsUpNobody(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dir := t.TempDir()
	writeSecret(t, dir)
	client, err := open(t, dir, fmt.Sprintf("url = \"http://127.0.0.1:1\"\ntimeout = \"100ms\"\n"+
		"oauth2 = { client_id = \"me\", client_secret_file = \"secret\", token_url = \"http://%s/token\" }", silent.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	done := make(chan error, 1)
	go func() {
		_, _, err := get(t, client)
		done <- err
	}()
	select {
	case err := <-done:
		var failed *Error
		if !errors.As(err, &failed) || failed.Kind != Unavailable || !strings.Contains(err.Error(), "oauth2.token_url") {
			t.Errorf("error is %v, must be Unavailable and name oauth2.token_url", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no end of the request, whose timeout is 100ms")
	}
}

func TestSecretsDoNotFollowRedirects(t *testing.T) {
	var seen []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")+r.Header.Get("X-Token"))
	}))
	defer other.Close()
	away := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	server := httptest.NewServer(http.RedirectHandler(away, http.StatusTemporaryRedirect))
	defer server.Close()
	dir := t.TempDir()
	writeSecret(t, dir)

	for _, tt := range []struct {
		name, option, want string
	}{
		{"credentials stay behind", `authorization = { credentials_file = "secret" }`, ""},
		{"headers forbid it", `http_headers = { X-Token = { files = ["secret"] } }`, "must not see http_headers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, err := open(t, dir, "url = \""+server.URL+"\"\n"+tt.option)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, _, err = get(t, client)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error is %v, must hold %q", err, tt.want)
			}
			if got := strings.Join(seen, ""); got != "" {
				t.Errorf("the other host saw %q", got)
			}
		})
	}
	if len(seen) != 1 {
		t.Errorf("the other host was asked %d times, must be once", len(seen))
	}
}

func TestRedirectsNeverLeaveTLS(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "seen") }))
	defer plain.Close()
	server := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer server.Close()
	client, err := open(t, t.TempDir(), "url = \""+server.URL+"\"\ntls_config = { insecure_skip_verify = true }")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, _, err := get(t, client); err == nil || !strings.Contains(err.Error(), "without TLS") {
		t.Errorf("error is %v, must speak of an address without TLS", err)
	}
}

func writeSecret(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
