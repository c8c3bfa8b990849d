// Package webhook is the target driver "webhook": a server of the operator's reads the status and
// sets the replicas of whatever has no driver of its own. What it is asked and must answer is
// docs/contract-json.md; package jsontarget speaks it, this one carries it by HTTP.
package webhook

import (
	"net/url"
	"strings"
	"time"

	"github.com/hpad/hpad/internal/httpclient"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/jsontarget"
)

// Driver returns the driver "webhook".
func Driver() targets.Driver {
	return targets.Driver{
		Name:          "webhook",
		Open:          open,
		KnowsRequests: true,
		Resource:      targets.ResourceSource{Driver: "process"},
	}
}

// connectionOptions is the table [targets.NAME].
type connectionOptions struct {
	SecretFile options.Secret `toml:"secret_file" doc:"file with the secret that requests are signed with, read anew for each request; unsigned if not set"`
	httpclient.Options
}

func defaults() connectionOptions {
	o := connectionOptions{Options: httpclient.Defaults()}
	o.MaxResponseBytes = 1 << 20
	o.FollowRedirects = false
	return o
}

func open(_ targets.Environment, table options.Table) (targets.Connection, error) {
	o := defaults()
	client, err := httpclient.Open(table, &o, &o.Options)
	if err != nil {
		return nil, err
	}
	if o.FollowRedirects {
		return nil, options.Errorf("follow_redirects", "must be false: a request for a change goes where it was meant to go, and nowhere else")
	}
	if client.URL().RawQuery != "" {
		return nil, options.Errorf("url", "must have no part behind ?: put secrets into authorization, the rest into parameters of the target")
	}
	return &connection{client: client, secret: o.SecretFile, now: time.Now}, nil
}

// connection is one server. It implements jsontarget.Carrier.
type connection struct {
	client *httpclient.Client
	secret options.Secret
	now    func() time.Time
}

// Bind reads the table of a workload's target.
func (c *connection) Bind(table options.Table) (targets.Target, error) {
	return jsontarget.Bind(c, table)
}

// Close closes idle connections.
func (c *connection) Close() error {
	c.client.Close()
	return nil
}

// Namespace is the same for addresses that mean the same.
func (c *connection) Namespace() string { return "webhook:" + canonical(c.client.URL()) }

func canonical(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	standard := map[string]string{"http": "80", "https": "443"}
	if port := u.Port(); port != "" && port != standard[u.Scheme] {
		host += ":" + port
	}
	return u.Scheme + "://" + host + strings.TrimSuffix(u.EscapedPath(), "/")
}
