package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hpad/hpad/daemon/api"
)

const (
	defaultAddress = "http://127.0.0.1:9872"
	requestTimeout = 30 * time.Second
	// maxAnswer is far above what thousands of workloads need.
	maxAnswer = 256 << 20
)

// client asks a running hpad over its HTTP API.
type client struct {
	// address is as the user knows it, base what requests begin with.
	address, base string
	http          *http.Client
}

func addAddressFlag(cmd *cobra.Command) {
	cmd.Flags().String("address", "", "`URL` of the daemon: http://…, https://… or unix:///path; "+
		"default: $HPAD_ADDRESS, else the socket of the configuration, else "+defaultAddress)
}

// newClient finds the daemon: by flag, by environment, by the configuration, by default.
func newClient(cmd *cobra.Command) (*client, error) {
	flag, _ := cmd.Flags().GetString("address")
	address := cmp.Or(flag, os.Getenv("HPAD_ADDRESS"))
	if address == "" {
		address = configuredAddress(configFile(cmd))
	}
	return clientFor(address)
}

// configuredAddress reads where the daemon of a configuration listens. The configuration may be
// broken while the daemon runs on with the one before; what could be read of it is good enough.
func configuredAddress(file string) string {
	cfg, _ := loadConfig(file)
	if connectable(cfg.Daemon.Socket) {
		return "unix://" + cfg.Daemon.Socket
	}
	if cfg.Daemon.Listen != "" {
		return "http://" + cfg.Daemon.Listen
	}
	return defaultAddress
}

func connectable(socket string) bool {
	if socket == "" {
		return false
	}
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func clientFor(address string) (*client, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, badInput{errors.New("cannot use the address: it is not a URL")}
	}
	c := &client{address: u.Redacted(), http: &http.Client{Timeout: requestTimeout}}
	switch u.Scheme {
	case "http", "https":
		c.base = strings.TrimSuffix(address, "/")
	case "unix":
		c.base = "http://hpad"
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", u.Path)
		}
		c.http.Transport = &http.Transport{DialContext: dial}
	default:
		return nil, badInput{fmt.Errorf("cannot use the address %q: it must begin with http://, https:// or unix://", c.address)}
	}
	return c, nil
}

// workloads asks for all workloads.
func (c *client) workloads(ctx context.Context) ([]api.Workload, error) {
	var list api.WorkloadList
	err := c.do(ctx, http.MethodGet, "/api/v1/workloads", &list)
	return list.Workloads, err
}

// workload asks for one workload.
func (c *client) workload(ctx context.Context, name string) (api.Workload, error) {
	var w api.Workload
	err := c.do(ctx, http.MethodGet, "/api/v1/workloads/"+url.PathEscape(name), &w)
	return w, err
}

// reload asks the daemon to read its configuration again, and waits for the outcome.
func (c *client) reload(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, "/-/reload", nil)
}

func (c *client) do(ctx context.Context, method, path string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	body := io.LimitReader(response.Body, maxAnswer)
	if response.StatusCode/100 != 2 {
		return c.refused(response, body)
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(body).Decode(answer); err != nil {
		return fmt.Errorf("cannot understand the answer of %s: %w", c.address, err)
	}
	return nil
}

// unreachable says what to do; the URL in net/http's own text only hides the cause.
func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("cannot reach hpad at %s: %w\n"+
		"Is \"hpad run\" running? Set --address or HPAD_ADDRESS if it listens elsewhere", c.address, err)
}

func (c *client) refused(response *http.Response, body io.Reader) error {
	text, _ := io.ReadAll(body)
	var problem api.Problem
	if json.Unmarshal(text, &problem) == nil && problem.Title != "" {
		return &refusal{problem}
	}
	return fmt.Errorf("%s answered %s: %s", c.address, response.Status, strings.TrimSpace(string(text)))
}

// refusal is the daemon's no.
type refusal struct{ problem api.Problem }

func (r *refusal) Error() string { return cmp.Or(r.problem.Detail, r.problem.Title) }
