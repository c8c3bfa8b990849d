// Package dockerswarm is the target driver "docker-swarm": the replicas of a service of a Docker
// swarm.
//
// A swarm has its own opinion on three things, which shape the driver. A service that is being
// updated or rolled back must not be scaled, since that destroys what a rollback would return to;
// the driver reports a block (guards.go). A write with the replicas it already has is not a
// no-op; the driver never makes one. A specification that went through this program's structs
// would lose what they do not know; the driver changes one number in the text it read (write.go).
package dockerswarm

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/docker/docker/client"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// Driver returns the driver.
func Driver() targets.Driver {
	return targets.Driver{
		Name:          "docker-swarm",
		Open:          open,
		KnowsRequests: true,
		Resource: targets.ResourceSource{
			Driver: "docker",
			Keys:   []string{"host", "tls_ca_file", "tls_cert_file", "tls_key_file", "timeout"},
		},
	}
}

// connectionOptions is the table [targets.NAME].
type connectionOptions struct {
	Host    string           `toml:"host"`
	CAFile  options.Path     `toml:"tls_ca_file"`
	Cert    options.Path     `toml:"tls_cert_file"`
	Key     options.Path     `toml:"tls_key_file"`
	Timeout options.Duration `toml:"timeout"`
}

// bindingOptions is the table of a workload's target.
type bindingOptions struct {
	Service string `toml:"service"`
}

func open(env targets.Environment, table options.Table) (targets.Connection, error) {
	decoded := connectionOptions{Host: client.DefaultDockerHost, Timeout: options.Duration(10 * time.Second)}
	if err := table.Decode(&decoded); err != nil {
		return nil, err
	}
	host, hostErr := parseHost(decoded.Host)
	config, tlsErr := decoded.tlsConfig(host)
	var timeoutErr error
	if decoded.Timeout <= 0 {
		timeoutErr = options.Errorf("timeout", "must be > 0s, is %v", decoded.Timeout)
	}
	if err := errors.Join(hostErr, tlsErr, timeoutErr); err != nil {
		return nil, err
	}
	if host.open() && config == nil {
		env.Log.Warn("the engine's API is reached without TLS: who is on the network is root on the engine's machine", slog.String("host", decoded.Host))
	}
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	transport := &http.Transport{TLSClientConfig: config, MaxIdleConns: 8, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second}
	engine, err := client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithHost(host.String()),
		client.WithScheme(scheme),
		client.WithAPIVersionNegotiation(),
	)
	if err != nil {
		return nil, options.Errorf("host", "cannot be used: %v", err)
	}
	return newConnection(host, scheme, engine, decoded.Timeout.Std()), nil
}
