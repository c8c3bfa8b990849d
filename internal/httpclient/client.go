// Package httpclient is how drivers ask over HTTP: the options every such driver has, which are
// those of a Prometheus scrape job, and a client that bounds the time, the size and the number of
// requests and sorts what can go wrong (Error). No error of it holds a secret: addresses are shown
// without their query, headers and bodies not at all.
package httpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/prometheus/common/config"
	"golang.org/x/oauth2"

	"github.com/hpad/hpad/internal/options"
)

// Client asks one server. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	http  *http.Client
	opts  Options
	slots chan struct{}
}

// New returns a Client, offline. Errors are option errors, all of them joined.
func New(o Options) (*Client, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	base, err := parseURL(o.URL)
	if err != nil {
		return nil, options.Errorf("url", "%s", err)
	}
	cfg := o.clientConfig()
	if err := validate(&cfg); err != nil {
		return nil, err
	}
	client, err := config.NewClientFromConfig(cfg, "hpad",
		config.WithDialContextFunc(newDialer(o.Timeout).dial))
	if err != nil {
		return nil, options.Errorf("tls_config", "%s", err)
	}
	client.CheckRedirect = o.checkRedirect
	return &Client{base: base, http: client, opts: o, slots: make(chan struct{}, o.MaxConcurrent)}, nil
}

// URL returns the configured address, to be changed by the caller.
func (c *Client) URL() *url.URL {
	u := *c.base
	return &u
}

// Options returns the options of the client.
func (c *Client) Options() Options { return c.opts }

// Close closes the connections that wait for use. It can be called again.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do sends a request, waits for its turn if too many are under way, and reads the whole answer,
// whatever its status. It returns an *Error if there is no whole answer. The request becomes one of
// the user agent hpad, as does the one for a token.
func (c *Client) Do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	ctx, cancel := within(ctx, c.opts.Timeout)
	defer cancel()
	// The library's option would copy each request for it.
	req.Header.Set("User-Agent", "hpad")
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, nil, c.unavailable(ctx, ctx.Err())
	}
	resp, err := c.http.Do(req.WithContext(ctx))
	if err != nil {
		return nil, nil, c.unavailable(ctx, err)
	}
	defer resp.Body.Close()
	body, err := c.read(ctx, resp)
	if err != nil {
		return nil, nil, err
	}
	return resp, body, nil
}

// within is context.WithTimeout, without the cost of a context where ctx ends earlier anyway.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= timeout {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

func (c *Client) read(ctx context.Context, resp *http.Response) ([]byte, error) {
	limit := c.opts.MaxResponseBytes
	if resp.ContentLength > limit {
		return nil, c.tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err == nil && int64(len(body)) <= limit:
		return body, nil
	case err == nil:
		return nil, c.tooLarge()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errorf(Garbled, "the answer of %s breaks off after %d bytes", c, len(body))
	}
	return nil, c.unavailable(ctx, err)
}

func (c *Client) tooLarge() error {
	return errorf(Garbled, "the answer of %s is larger than max_response_bytes = %d", c, c.opts.MaxResponseBytes)
}

// unavailable says why there is no answer. The address of a url.Error is left out: it holds the
// query, and could hold more after a redirect.
func (c *Client) unavailable(ctx context.Context, err error) error {
	var inURL, inToken *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	var token *oauth2.RetrieveError
	var file *os.PathError
	switch {
	case errors.As(err, &token):
		return errorf(Denied, "cannot ask %s: its oauth2.token_url gave no token: %s", c, tokenStatus(token))
	case errors.As(err, &inToken):
		return errorf(Unavailable, "cannot ask %s: its oauth2.token_url gave no token: %w", c, inToken.Err)
	case errors.As(err, &file):
		return errorf(Denied, "cannot ask %s: %w", c, file)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errorf(Unavailable, "%s did not answer in time (timeout is %s): %w",
			c, options.Duration(c.opts.Timeout), context.DeadlineExceeded)
	}
	return errorf(Unavailable, "cannot ask %s: %w", c, err)
}

// tokenStatus leaves out the body, which may repeat the secret.
func tokenStatus(err *oauth2.RetrieveError) string {
	if err.Response == nil {
		return "no answer"
	}
	return err.Response.Status
}

// String is the address as errors show it: quoted, without query and user.
func (c *Client) String() string {
	u := url.URL{Scheme: c.base.Scheme, Host: c.base.Host, Path: c.base.Path}
	return fmt.Sprintf("%q", u.String())
}
