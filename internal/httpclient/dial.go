package httpclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// dialer opens connections.
type dialer struct {
	net.Dialer
}

// newDialer bounds the time of dialling, which goes on when the request that began it is over.
func newDialer(timeout time.Duration) *dialer {
	return &dialer{net.Dialer{Timeout: timeout}}
}

// dial bounds each request for a token too: the library waits for the answer without regard to the
// request that needs the token, and all others wait with it. The library marks only requests for
// tokens, by a client in their context.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, address)
	if err != nil || ctx.Value(oauth2.HTTPClient) == nil {
		return conn, err
	}
	return &impatientConn{Conn: conn, timeout: d.Timeout}, nil
}

// impatientConn is a connection on which whatever is asked must be answered within timeout.
type impatientConn struct {
	net.Conn
	timeout time.Duration
}

func (c *impatientConn) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// mostRedirects is the limit of net/http, which a check of redirects replaces.
const mostRedirects = 10

// checkRedirect keeps what is secret from those it is not meant for. The library keeps the
// credentials themselves from other hosts.
func (o *Options) checkRedirect(req *http.Request, via []*http.Request) error {
	from, to := via[0].URL, req.URL
	switch {
	case !o.FollowRedirects:
		return http.ErrUseLastResponse
	case len(via) >= mostRedirects:
		return errors.New("it redirects without end")
	case from.Scheme == "https" && to.Scheme != "https":
		return errors.New("it redirects to an address without TLS")
	case len(o.HTTPHeaders) > 0 && from.Host != to.Host:
		return errors.New("it redirects to another host, which must not see http_headers")
	}
	return nil
}
