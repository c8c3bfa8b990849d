package dockerapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// Host is the address of an engine's API, in one canonical form.
type Host struct {
	Scheme string // "unix" or "tcp"
	Addr   string // a path, or host:port
}

// String is the address as the key "host" takes it.
func (h Host) String() string { return h.Scheme + "://" + h.Addr }

// open tells whether the address is one that other machines may reach.
func (h Host) open() bool {
	if h.Scheme != "tcp" {
		return false
	}
	name, _, _ := net.SplitHostPort(h.Addr)
	ip, err := netip.ParseAddr(name)
	return name != "localhost" && (err != nil || !ip.IsLoopback())
}

// parseHost reads the key "host". Two spellings of one address give one host: letters are lower
// case, a socket's folder is without symbolic links (/var/run is /run).
func parseHost(text string) (Host, error) {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, "?#") {
		return Host{}, options.Errorf("host", `must be like "unix:///run/docker.sock" or "tcp://manager:2376"`)
	}
	if u.User != nil {
		return Host{}, options.Errorf("host", "must not hold a user name or a password")
	}
	switch {
	case u.Scheme == "unix" && u.Host == "" && filepath.IsAbs(u.Path):
		return Host{"unix", realPath(u.Path)}, nil
	case u.Scheme == "tcp" && u.Hostname() != "" && u.Port() != "" && strings.Trim(u.Path, "/") == "":
		return Host{"tcp", net.JoinHostPort(strings.ToLower(u.Hostname()), u.Port())}, nil
	}
	return Host{}, options.Errorf("host", `must be like "unix:///run/docker.sock" or "tcp://manager:2376", is %s`, options.Show(text))
}

func realPath(path string) string {
	path = filepath.Clean(path)
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// tlsConfig returns nil if no key of TLS is set.
func (o *Options) tlsConfig(h Host) (*tls.Config, error) {
	if o.CAFile == "" && o.Cert == "" && o.Key == "" {
		return nil, nil
	}
	if h.Scheme == "unix" {
		return nil, options.Errorf("tls_ca_file", "has no meaning with a unix socket, nor have the other tls keys")
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, options.Errorf("tls_cert_file", "must be set together with tls_key_file")
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	return config, errors.Join(o.trust(config), o.identify(config))
}

func (o *Options) trust(config *tls.Config) error {
	if o.CAFile == "" {
		return nil
	}
	text, err := os.ReadFile(string(o.CAFile))
	if err != nil {
		return options.Errorf("tls_ca_file", "cannot be read: %v", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return options.Errorf("tls_ca_file", "holds no certificate: %q", string(o.CAFile))
	}
	return nil
}

// identify reads the client's certificate, once to find mistakes and then for every new
// connection, so that a renewed one needs no reload.
func (o *Options) identify(config *tls.Config) error {
	if o.Cert == "" {
		return nil
	}
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(string(o.Cert), string(o.Key))
		return &pair, err
	}
	if _, err := load(); err != nil {
		return options.Errorf("tls_cert_file", "cannot be used with tls_key_file: %v", err)
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	return nil
}
