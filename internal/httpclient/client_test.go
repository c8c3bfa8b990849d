package httpclient

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, client *Client) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, client.URL().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return client.Do(t.Context(), req)
}

func TestSecretsAreReadAnewForEachRequest(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization")+" "+r.Header.Get("X-Tenant")+" "+r.UserAgent())
	}))
	defer server.Close()
	dir := t.TempDir()
	client, err := open(t, dir, "url = \""+server.URL+"\"\nauthorization = { credentials_file = \"token\" }\n[http_headers.X-Tenant]\nfiles = [\"tenant\"]")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, word := range []string{"one", "two"} {
		for _, name := range []string{"token", "tenant"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(word+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := get(t, client); err != nil {
			t.Fatal(err)
		}
	}
	if want := "Bearer one one hpad, Bearer two two hpad"; strings.Join(got, ", ") != want {
		t.Errorf("headers are %q, want %s", got, want)
	}
}

func TestMissingSecretIsADenialThatNamesTheFile(t *testing.T) {
	client, err := open(t, "/conf", "url = \"http://127.0.0.1:1\"\nbasic_auth = { username = \"u\", password_file = \"gone\" }")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, _, err = get(t, client)
	if err == nil || kindOf(err) != Denied || !strings.Contains(err.Error(), "open /conf/gone") {
		t.Errorf("error is %v, want a denial that names /conf/gone", err)
	}
}

func TestConnectionsAreFewAndUsedAgain(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("x"))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client, err := open(t, "/", "max_concurrent = 3\nurl = \""+server.URL+"\"")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, _, err := get(t, client); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// A connection whose request finds another one idle first is opened in vain.
	if n := connections.Load(); n > 6 {
		t.Errorf("100 requests made %d connections, want about 3", n)
	}
}

func TestAddressIsShownWithoutItsQuery(t *testing.T) {
	client, err := open(t, "/", `url = "http://127.0.0.1:1/metrics?token=hunter2"`)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, _, err = get(t, client)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), `"http://127.0.0.1:1/metrics"`) {
		t.Errorf("error is %v, want one with the address and without its query", err)
	}
}

func TestTokenServerIsNotQuoted(t *testing.T) {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":"invalid_client","you_sent":"hunter2"}`, http.StatusUnauthorized)
	}))
	defer tokens.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := open(t, dir, "url = \"http://127.0.0.1:1\"\noauth2 = { client_id = \"i\", client_secret_file = \"secret\", token_url = \""+tokens.URL+"\" }")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, _, err = get(t, client)
	if err == nil || kindOf(err) != Denied || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "401") {
		t.Errorf("error is %v, want a denial with the status alone", err)
	}
}

// kindOf is no kind at all for an error of another type.
func kindOf(err error) Kind {
	var sorted *Error
	if !errors.As(err, &sorted) {
		return Kind(255)
	}
	return sorted.Kind
}
