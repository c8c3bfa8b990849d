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
	"strings"
	"time"

	"github.com/hpad/hpad/daemon/api"
)

const (
	requestTimeout = 30 * time.Second
	// maxAnswer is far above what thousands of workloads need.
	maxAnswer = 256 << 20
)

// client asks a running hpad over its HTTP API.
type client struct {
	// address is as the user knows it, base what requests begin with.
	address, base string
	http          *http.Client
	// before says what was tried before address, for messages; empty if nothing was.
	before string
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
	err := c.read(ctx, "/api/v1/workloads", &list)
	return list.Workloads, err
}

// workload asks for one workload.
func (c *client) workload(ctx context.Context, name string) (api.Workload, error) {
	var w api.Workload
	err := c.read(ctx, "/api/v1/workloads/"+url.PathEscape(name), &w)
	return w, err
}

// reload asks the daemon to read its configuration again, waits for the outcome and returns what
// the daemon says of it.
func (c *client) reload(ctx context.Context) (string, error) {
	body, err := c.ask(ctx, http.MethodPost, "/-/reload")
	return strings.TrimSpace(string(body)), err
}

// read asks for what there is at a path.
func (c *client) read(ctx context.Context, path string, answer any) error {
	body, err := c.ask(ctx, http.MethodGet, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("cannot understand the answer of %s: %w", c.address, err)
	}
	return nil
}

// ask returns the body of a good answer. Everything else is an error.
func (c *client) ask(ctx context.Context, method, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case response.StatusCode/100 != 2:
		return nil, c.refused(response, body)
	case err != nil:
		return nil, fmt.Errorf("cannot read the answer of %s: %w", c.address, err)
	}
	return body, nil
}

// unreachable says what to do; the URL in net/http's own text only hides the cause.
func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("cannot reach hpad at %s%s: %w\n"+
		"Is \"hpad run\" running? Set --address or HPAD_ADDRESS if it listens elsewhere", c.before, c.address, err)
}

func (c *client) refused(response *http.Response, text []byte) error {
	var problem api.Problem
	if json.Unmarshal(text, &problem) == nil && problem.Title != "" {
		return &refusal{problem}
	}
	return fmt.Errorf("%s answered %s: %s", c.address, response.Status, strings.TrimSpace(string(text)))
}

// refusal is the daemon's no.
type refusal struct{ problem api.Problem }

func (r *refusal) Error() string { return cmp.Or(r.problem.Detail, r.problem.Title) }
