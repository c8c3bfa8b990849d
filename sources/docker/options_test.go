package docker

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
)

func TestWrongOptionsAreNamedAllAtOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "empty.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		values map[string]any
		keys   []string
	}{
		"nothing set":              {},
		"everything allowed":       {values: map[string]any{"host": "tcp://10.0.0.1:2376", "cgroup_root": "/host/cgroup", "timeout": "1s", "prefer": "api"}},
		"an unknown key":           {values: map[string]any{"hots": "x"}, keys: []string{"hots"}},
		"no address":               {values: map[string]any{"host": "docker.sock"}, keys: []string{"host"}},
		"a scheme we do not speak": {values: map[string]any{"host": "ssh://me@there"}, keys: []string{"host"}},
		"several": {
			values: map[string]any{"cgroup_root": "x", "timeout": "0s", "prefer": "fast"},
			keys:   []string{"cgroup_root", "prefer", "timeout"},
		},
		"an authority without certificate": {values: map[string]any{"tls_ca_file": "empty.pem"}, keys: []string{"tls_ca_file"}},
		"an authority that is not there":   {values: map[string]any{"tls_ca_file": "absent.pem"}, keys: []string{"tls_ca_file"}},
		"a certificate without key":        {values: map[string]any{"tls_cert_file": "empty.pem"}, keys: []string{"tls_key_file"}},
		"a key without certificate":        {values: map[string]any{"tls_key_file": "empty.pem"}, keys: []string{"tls_cert_file"}},
		"a certificate that is none": {
			values: map[string]any{"tls_cert_file": "empty.pem", "tls_key_file": "empty.pem"},
			keys:   []string{"tls_cert_file"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			env := sources.Environment{Log: slog.New(slog.DiscardHandler)}
			s, err := Driver().Open(env, options.NewTable(dir, test.values))
			var keys []string
			for _, e := range options.Split(err) {
				key, _ := options.Key(e)
				keys = append(keys, key)
			}
			slices.Sort(keys)
			if diff := cmp.Diff(test.keys, keys); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if err == nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Errorf("the second Close says %v", err)
				}
			}
		})
	}
}
