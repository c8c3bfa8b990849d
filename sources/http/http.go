// Package http is the driver "http": it gets a JSON document from an address and takes numbers from
// it. A query is a path into the document (package jsondoc), which is read once per evaluation,
// whatever the number of queries.
package http

import (
	"context"
	"net/http"
	"time"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/httpclient"
	"github.com/hpad/hpad/sources/internal/jsondoc"
)

// Options are the keys of a [sources.NAME] table with driver = "http".
type Options struct {
	httpclient.Options
}

// Defaults are the Options of an empty table.
func Defaults() Options {
	o := Options{httpclient.Defaults()}
	o.MaxResponseBytes = 1 << 20
	return o
}

// Driver returns the driver "http".
func Driver() sources.Driver { return sources.Driver{Name: "http", Open: open} }

func open(_ sources.Environment, table options.Table) (sources.Source, error) {
	o := Defaults()
	client, err := httpclient.Open(table, &o, &o.Options)
	if err != nil {
		return nil, err
	}
	s := &source{client: client}
	// The client's own deadline comes first, for it knows better what it waited for.
	s.document = jsondoc.New(client.String(), s.get, o.Timeout+time.Second)
	return s, nil
}

// source is an opened table. It implements sources.Querier and sources.QueryChecker.
type source struct {
	client   *httpclient.Client
	document *jsondoc.Document
}

// Close closes idle connections.
func (s *source) Close() error {
	s.client.Close()
	return nil
}

// Query returns the numbers of the document at the path that q is.
func (s *source) Query(ctx context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	return s.document.Query(ctx, q, at)
}

// CheckQuery says offline whether q is a path.
func (s *source) CheckQuery(q sources.Query) error { return jsondoc.Check(q) }

func (s *source) get(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.client.URL().String(), nil)
	if err != nil {
		return nil, sources.Errorf(sources.Unavailable, "cannot ask %s: not a request", s.client)
	}
	req.Header.Set("Accept", "application/json")
	resp, body, err := s.client.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := s.client.CheckStatus(resp.StatusCode, "", "is the url that of a JSON document?"); err != nil {
		return nil, err
	}
	return body, nil
}
