package httpclient

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/config"

	"github.com/hpad/hpad/internal/options"
)

// left are the keys of a scrape job that would put a secret into the file, or need a store of
// secrets hpad does not have.
var left = []string{
	"authorization.credentials", "authorization.credentials_ref",
	"basic_auth.password", "basic_auth.password_ref", "basic_auth.username_ref",
	"bearer_token",
	"http_headers.NAME.secrets",
	"oauth2.client_certificate_key", "oauth2.client_certificate_key_ref",
	"oauth2.client_secret", "oauth2.client_secret_ref",
	"oauth2.tls_config.ca_ref", "oauth2.tls_config.cert_ref", "oauth2.tls_config.key", "oauth2.tls_config.key_ref",
	"tls_config.ca_ref", "tls_config.cert_ref", "tls_config.key", "tls_config.key_ref",
}

func TestEveryOptionOfAScrapeJobIsThereButSecrets(t *testing.T) {
	theirs := keys(reflect.TypeFor[config.HTTPClientConfig](), "yaml", "")
	ours := keys(reflect.TypeFor[Options](), "toml", "")
	own := []string{"url", "timeout", "max_response_bytes", "max_concurrent"}
	ours = slices.DeleteFunc(ours, func(key string) bool { return slices.Contains(own, key) })
	want := slices.DeleteFunc(theirs, func(key string) bool { return slices.Contains(left, key) })
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("keys (-prometheus/common +hpad):\n%s", diff)
	}
}

// keys returns the paths of all leaves of a struct, sorted.
func keys(of reflect.Type, tag, path string) []string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() == reflect.Map && of.Elem().Kind() == reflect.Struct {
		return keys(of.Elem(), tag, options.JoinKey(path, "NAME"))
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[config.URL]() {
		return []string{path}
	}
	var all []string
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get(tag), ",")
		if field.IsExported() && name != "-" {
			all = append(all, keys(field.Type, tag, options.JoinKey(path, name))...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func open(t *testing.T, dir, text string) (*Client, error) {
	t.Helper()
	values := map[string]any{}
	if _, err := toml.Decode(text, &values); err != nil {
		t.Fatal(err)
	}
	o := Defaults()
	return Open(options.NewTable(dir, values), &o, &o)
}

func TestEveryMistakeInATableIsToldWithItsKey(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", ``, `url: is missing, must be an address such as "http://127.0.0.1:9090"`},
		{"misspelt", `ulr = "http://x"`, `ulr: unknown key "ulr", did you mean "url"?`},
		{"no scheme", `url = "localhost:9090"`, `url: must begin with "http://" or "https://", is "localhost:9090"`},
		{"no host", `url = "http:///x"`, `url: names no host, is "http:///x"`},
		{"a password in the address", `url = "http://u:hunter2@x"`, `url: holds a user name or password: write them as basic_auth = { username = …, password_file = … }`},
		{"an address that is none", `url = "http://u:hunter2@x:y z"`, `url: is not a URL such as "http://127.0.0.1:9090"`},
		{"two limits", "url = \"http://x\"\ntimeout = \"0s\"\nmax_concurrent = 21", "timeout: must be more than 0 and at most 5m, is 0s\nmax_concurrent: must be 1 … 20, is 21"},
		{"a secret in the file", "url = \"http://x\"\nbasic_auth = { username = \"u\", password = \"hunter2\" }", `basic_auth.password: is a secret and must not stand here: write it to a file, and name that as password_file`},
		{"a nested typing mistake", "url = \"http://x\"\ntls_config = { ca_flie = \"x\" }", `tls_config.ca_flie: unknown key "ca_flie", did you mean "ca_file"?`},
		{"a TLS that is none", "url = \"http://x\"\ntls_config = { min_version = \"1.2\" }", `tls_config.min_version: must be TLS10, TLS11, TLS12 or TLS13, is "1.2"`},
		{"a certificate without key", "url = \"http://x\"\ntls_config = { cert_file = \"x\" }", `tls_config: exactly one of key or key_file must be configured when a client certificate is configured`},
		{"two kinds of credentials", "url = \"http://x\"\nbasic_auth = { username = \"u\" }\nbearer_token_file = \"f\"", `at most one of basic_auth, oauth2, bearer_token & bearer_token_file must be configured`},
		{"a proxy that is none", "url = \"http://x\"\nproxy_url = \"u:hunter2\"", `proxy_url: is not the address of a proxy, such as "http://proxy:3128"`},
		{"a reserved header", "url = \"http://x\"\n[http_headers.Host]\nvalues = [\"y\"]", `setting header "Host" is not allowed`},
		{"an incomplete oauth2", "url = \"http://x\"\noauth2 = { client_id = \"i\" }", `oauth2 token_url must be configured`},
		{"a missing authority", "url = \"http://x\"\ntls_config = { ca_file = \"gone.pem\" }", `tls_config: unable to read CA cert: unable to read file /conf/gone.pem: open /conf/gone.pem: no such file or directory`},
	}
	for _, test := range tests {
		_, err := open(t, "/conf", test.text)
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		if diff := cmp.Diff(test.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestFilesAreRelativeToTheTable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("t"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := open(t, dir, "url = \"http://x\"\nauthorization = { credentials_file = \"token\" }")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if got := client.opts.Authorization.CredentialsFile; string(got) != filepath.Join(dir, "token") {
		t.Errorf("file is %q, want one in %q", got, dir)
	}
}
