// Package httpclient is the HTTP client of hpad (internal/httpclient) with the errors of package
// sources.
package httpclient

import (
	"context"
	"errors"
	"net/http"

	"github.com/hpad/hpad/internal/httpclient"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
)

// Options are the keys of the table of a source that is asked over HTTP.
type Options = httpclient.Options

// Defaults are the Options of an empty table.
func Defaults() Options { return httpclient.Defaults() }

// Client asks one server. It is safe for concurrent use.
type Client struct{ *httpclient.Client }

// Open decodes a table into a driver's options, of which o is the embedded part, and makes the
// client. All mistakes are in the error, each key's first one only.
func Open(table options.Table, driver any, o *Options) (*Client, error) {
	client, err := httpclient.Open(table, driver, o)
	if err != nil {
		return nil, err
	}
	return &Client{client}, nil
}

// Do sends a request and reads the whole answer, whatever its status.
func (c *Client) Do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	resp, body, err := c.Client.Do(ctx, req)
	return resp, body, sorted(err)
}

// CheckStatus gives a status that is no success a kind. Of a long remark the error repeats the begin.
func (c *Client) CheckStatus(code int, remark, hint string) error {
	return sorted(c.Client.CheckStatus(code, sources.Cut(remark, sources.LongestRemark), hint))
}

// Status is a status code with its meaning, as "404 Not Found".
func Status(code int) string { return httpclient.Status(code) }

func sorted(err error) error {
	var failed *httpclient.Error
	if !errors.As(err, &failed) {
		return err
	}
	kind := sources.Unavailable
	switch failed.Kind {
	case httpclient.Denied:
		kind = sources.Denied
	case httpclient.Garbled:
		kind = sources.Garbled
	}
	return &sources.Error{Kind: kind, Err: failed.Err}
}
