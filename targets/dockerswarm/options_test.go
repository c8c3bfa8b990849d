package dockerswarm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hpad/hpad/internal/options"
)

func TestAllMistakesInTheTableAreReported(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		values []any
		want   []string // beginnings
	}{
		{[]any{"host", "tcp://manager"}, []string{"host: must be like"}},
		{[]any{"host", "manager:2376"}, []string{"host: must be like"}},
		{[]any{"host", "unix://docker.sock"}, []string{"host: must be like"}},
		{[]any{"host", "tcp://manager:2376/path"}, []string{"host: must be like"}},
		{[]any{"host", "http://manager:2376"}, []string{"host: must be like"}},
		{[]any{"host", "tcp://root:hunter2@manager:2376"}, []string{"host: must not hold a user name"}},
		{[]any{"host", "tcp://m:1", "timeout", "0s"}, []string{"timeout: must be > 0s, is 0s"}},
		{[]any{"host", "x", "timeout", "-1s"}, []string{"host: must be like", "timeout: must be > 0s"}},
		{[]any{"tls_ca_file", empty}, []string{"tls_ca_file: has no meaning with a unix socket"}},
		{[]any{"host", "tcp://m:1", "tls_ca_file", empty}, []string{"tls_ca_file: holds no certificate"}},
		{[]any{"host", "tcp://m:1", "tls_ca_file", empty + "x"}, []string{"tls_ca_file: cannot be read"}},
		{[]any{"host", "tcp://m:1", "tls_key_file", empty}, []string{"tls_cert_file: must be set together"}},
		{[]any{"host", "tcp://m:1", "tls_key_file", empty, "tls_cert_file", empty}, []string{"tls_cert_file: cannot be used"}},
		{[]any{"hosts", "tcp://m:1"}, []string{`hosts: unknown key "hosts", did you mean "host"?`}},
	} {
		_, err := Driver().Open(environment(new(bytes.Buffer)), table(test.values...))
		problems := options.Split(err)
		if len(problems) != len(test.want) {
			t.Errorf("%v: problems are %q", test.values, problems)
			continue
		}
		for i, problem := range problems {
			if text := problem.Error(); !strings.HasPrefix(text, test.want[i]) || strings.Contains(text, "hunter2") {
				t.Errorf("%v: problem is %q, want %q…", test.values, text, test.want[i])
			}
		}
	}
}

func TestServiceIsAName(t *testing.T) {
	connection := connect(t, "unix:///run/docker.sock")
	defer connection.Close()
	for _, name := range []any{"", "a/b", "web?x=1", "web web", 3} {
		if _, err := connection.Bind(table("service", name)); err == nil || !strings.HasPrefix(err.Error(), "service: ") {
			t.Errorf("Bind of %#v says %v", name, err)
		}
	}
	if _, err := connection.Bind(table()); err == nil {
		t.Error("Bind of an empty table has no error")
	}
}

func TestTwoSpellingsOfAnEngineAreOneID(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, same := range [][2]string{
		{"tcp://Manager:2376", "tcp://manager:2376/"},
		{"unix://" + dir + "/d.sock", "unix://" + dir + "/link/../link/d.sock"},
		{"unix://" + dir + "/d.sock", "unix://" + dir + "//d.sock"},
	} {
		if a, b := idOn(t, same[0]), idOn(t, same[1]); a != b {
			t.Errorf("the IDs are %q and %q", a, b)
		}
	}
	if a, b := idOn(t, "tcp://a:1"), idOn(t, "tcp://a:2"); a == b {
		t.Errorf("two engines have the ID %q", a)
	}
}

func idOn(t *testing.T, host string) string {
	t.Helper()
	connection := connect(t, host)
	defer connection.Close()
	target, err := connection.Bind(table("service", "web"))
	if err != nil {
		t.Fatal(err)
	}
	return target.ID()
}

func TestUnprotectedEngineIsWarnedOfUnlessItIsLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"tcp://manager:2375":   true,
		"tcp://10.0.0.1:2375":  true,
		"tcp://127.0.0.1:2375": false,
		"tcp://[::1]:2375":     false,
		"tcp://localhost:2375": false,
		"unix:///d.sock":       false,
	} {
		var log bytes.Buffer
		connection, err := Driver().Open(environment(&log), table("host", host))
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.Close()
		if got := strings.Contains(log.String(), "without TLS"); got != want {
			t.Errorf("%s: the log is %q", host, log.String())
		}
	}
}
