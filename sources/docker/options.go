package docker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/docker/docker/client"

	"github.com/hpad/hpad/internal/options"
)

// settings are the keys of a [sources.NAME] table.
type settings struct {
	// Host is the address of the engine's API: unix:///path, tcp://host:port, http:// or https://.
	Host string `toml:"host"`
	// TLSCAFile, TLSCertFile and TLSKeyFile secure a tcp Host: the authority that signed the
	// engine's certificate, and the certificate and key to show it.
	TLSCAFile   options.Path `toml:"tls_ca_file"`
	TLSCertFile options.Path `toml:"tls_cert_file"`
	TLSKeyFile  options.Path `toml:"tls_key_file"`
	// CgroupRoot is where the machine's control groups are mounted.
	CgroupRoot string `toml:"cgroup_root"`
	// Timeout bounds one question to the engine.
	Timeout options.Duration `toml:"timeout"`
	// Prefer is "auto", "api" or "cgroup".
	Prefer string `toml:"prefer"`
}

func defaults() settings {
	return settings{
		Host:       "unix:///run/docker.sock",
		CgroupRoot: "/sys/fs/cgroup",
		Timeout:    options.Duration(5 * time.Second),
		Prefer:     preferAuto,
	}
}

// The values of `prefer`.
const (
	preferAuto   = "auto"
	preferAPI    = "api"
	preferCgroup = "cgroup"
)

func read(table options.Table) (settings, *tls.Config, error) {
	s := defaults()
	if err := table.Decode(&s); err != nil {
		return s, nil, err
	}
	security, err := s.security()
	return s, security, errors.Join(s.check(), err)
}

func (s *settings) check() error {
	var errs []error
	if url, err := client.ParseHostURL(s.Host); err != nil {
		errs = append(errs, options.Errorf("host", "must be an address such as \"unix:///run/docker.sock\" or \"tcp://host:2376\", is %q", s.Host))
	} else if !known(url.Scheme) {
		errs = append(errs, options.Errorf("host", "must begin with unix://, tcp://, http:// or https://, is %q", s.Host))
	}
	if !filepath.IsAbs(s.CgroupRoot) {
		errs = append(errs, options.Errorf("cgroup_root", "must be an absolute path, is %q", s.CgroupRoot))
	}
	if s.Timeout <= 0 {
		errs = append(errs, options.Errorf("timeout", "must be > 0, is %v", s.Timeout))
	}
	if s.Prefer != preferAuto && s.Prefer != preferAPI && s.Prefer != preferCgroup {
		errs = append(errs, options.Errorf("prefer", "must be \"auto\", \"api\" or \"cgroup\", is %q", s.Prefer))
	}
	return errors.Join(errs...)
}

func known(scheme string) bool {
	switch scheme {
	case "unix", "tcp", "http", "https":
		return true
	}
	return false
}

// security reads the TLS files; nil if there are none.
func (s *settings) security() (*tls.Config, error) {
	if s.TLSCAFile == "" && s.TLSCertFile == "" && s.TLSKeyFile == "" {
		return nil, nil
	}
	security := &tls.Config{MinVersion: tls.VersionTLS12}
	return security, errors.Join(s.authority(security), s.certificate(security))
}

func (s *settings) authority(security *tls.Config) error {
	if s.TLSCAFile == "" {
		return nil
	}
	text, err := os.ReadFile(string(s.TLSCAFile))
	if err != nil {
		return options.Errorf("tls_ca_file", "cannot be read: %v", err)
	}
	security.RootCAs = x509.NewCertPool()
	if !security.RootCAs.AppendCertsFromPEM(text) {
		return options.Errorf("tls_ca_file", "has no certificate in PEM form")
	}
	return nil
}

func (s *settings) certificate(security *tls.Config) error {
	switch {
	case s.TLSCertFile == "" && s.TLSKeyFile == "":
		return nil
	case s.TLSCertFile == "":
		return options.Errorf("tls_cert_file", "must be set with tls_key_file")
	case s.TLSKeyFile == "":
		return options.Errorf("tls_key_file", "must be set with tls_cert_file")
	}
	pair, err := tls.LoadX509KeyPair(string(s.TLSCertFile), string(s.TLSKeyFile))
	if err != nil {
		return options.Errorf("tls_cert_file", "cannot be used with tls_key_file: %v", err)
	}
	security.Certificates = []tls.Certificate{pair}
	return nil
}
