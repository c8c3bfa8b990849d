// Package dockerapi is what the drivers that speak to a Docker engine share: how an engine is
// reached, what its errors mean, and readings that many workloads take part in.
package dockerapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/docker/docker/client"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// Options are the keys of a [targets.NAME] table that say how the engine is reached.
type Options struct {
	Host    string           `toml:"host" doc:"the engine's API: unix:///path or tcp://host:port"`
	CAFile  options.Path     `toml:"tls_ca_file" doc:"certificate of the authority that signed the engine's; the system's authorities if not set"`
	Cert    options.Path     `toml:"tls_cert_file" doc:"hpad's own certificate; read again for every connection"`
	Key     options.Path     `toml:"tls_key_file" doc:"the key of tls_cert_file"`
	Timeout options.Duration `toml:"timeout" doc:"the longest that one exchange with the engine may take"`
}

// Defaults are the Options of a table that sets none.
func Defaults() Options {
	return Options{Host: client.DefaultDockerHost, Timeout: options.Duration(10 * time.Second)}
}

// Resource is the source that measures containers of the same engine.
func Resource() targets.ResourceSource {
	return targets.ResourceSource{
		Driver: "docker",
		Keys:   []string{"host", "tls_ca_file", "tls_cert_file", "tls_key_file", "timeout"},
	}
}

// Engine is the API of one engine.
type Engine struct {
	*client.Client
	Host    Host
	Timeout time.Duration

	scheme string // of requests: "http" or "https"
}

// Open checks the options, all of them, and makes an Engine. It touches no network.
func (o *Options) Open(log *slog.Logger) (*Engine, error) {
	host, hostErr := parseHost(o.Host)
	config, tlsErr := o.tlsConfig(host)
	var timeoutErr error
	if o.Timeout <= 0 {
		timeoutErr = options.Errorf("timeout", "must be > 0s, is %v", o.Timeout)
	}
	if err := errors.Join(hostErr, tlsErr, timeoutErr); err != nil {
		return nil, err
	}
	if host.open() && config == nil {
		log.Warn("the engine's API is reached without TLS: who is on the network is root on the engine's machine", slog.String("host", o.Host))
	}
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	transport := &http.Transport{TLSClientConfig: config, MaxIdleConns: 16, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second}
	api, err := client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithHost(host.String()),
		client.WithScheme(scheme),
		client.WithAPIVersionNegotiation(),
	)
	if err != nil {
		return nil, options.Errorf("host", "cannot be used: %v", err)
	}
	return &Engine{Client: api, Host: host, Timeout: o.Timeout.Std(), scheme: scheme}, nil
}

// Limit bounds an exchange by the engine's timeout.
func (e *Engine) Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.Timeout)
}
