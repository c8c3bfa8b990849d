package options

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASecretIsReadAtEachUse(t *testing.T) {
	dir := t.TempDir()
	var got struct {
		Password Secret `toml:"password_file"`
	}
	if err := Decode(dir, map[string]any{"password_file": "password"}, &got); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"first\n", "second\r\n", " third "} {
		if err := os.WriteFile(filepath.Join(dir, "password"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if secret, err := got.Password.Read(); err != nil || secret != strings.TrimRight(content, "\r\n") {
			t.Errorf("%q is read as %q, %v", content, secret, err)
		}
	}
}

func TestASecretThatCannotBeReadSaysWhy(t *testing.T) {
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "\n", "large": strings.Repeat("x", 64<<10+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"":                             "no file is configured",
		filepath.Join(dir, "missing"):  "no such file",
		filepath.Join(dir, "empty"):    "is empty",
		filepath.Join(dir, "large"):    "is larger than",
		dir:                            "is a directory",
		"${CREDENTIALS_DIRECTORY}/api": "CREDENTIALS_DIRECTORY is not set",
	} {
		if _, err := SecretFile(File(dir, path)).Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

func TestNothingPrintsASecret(t *testing.T) {
	s := struct{ Password Secret }{SecretFile("/the/path")}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", s.Password)
		fmt.Fprintf(&out, verb+"\n", &s.Password)
	}
	if err := json.NewEncoder(&out).Encode(s); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", s.Password, "all", s)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", s.Password, "all", s)
	out.WriteString(s.Password.String())
	if strings.Contains(out.String(), "path") || strings.Count(out.String(), redacted) < 21 {
		t.Errorf("printed:\n%s", out.String())
	}
}

func TestFilesAreRelativeToTheConfiguration(t *testing.T) {
	t.Setenv("CREDENTIALS_DIRECTORY", "/run/credentials/hpad.service")
	table := map[string]any{
		"url":        "a",
		"ca_file":    "ca.pem",
		"basic_auth": map[string]any{"password_file": "${CREDENTIALS_DIRECTORY}/prometheus"},
		"http_headers": map[string]any{"X": map[string]any{
			"files": []any{"x", "/abs/x"}, "values": []any{"x"},
		}},
		"list":       []map[string]any{{"key_file": "k"}},
		"empty_file": "",
	}
	want := map[string]any{
		"url":        "a",
		"ca_file":    "/etc/hpad/ca.pem",
		"basic_auth": map[string]any{"password_file": "/run/credentials/hpad.service/prometheus"},
		"http_headers": map[string]any{"X": map[string]any{
			"files": []any{"/etc/hpad/x", "/abs/x"}, "values": []any{"x"},
		}},
		"list":       []any{map[string]any{"key_file": "/etc/hpad/k"}},
		"empty_file": "",
	}
	if diff := cmp.Diff(want, ResolveFiles("/etc/hpad", table)); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
}
