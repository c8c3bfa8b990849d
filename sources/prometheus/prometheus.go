// Package prometheus is the driver "prometheus": it asks a Prometheus server, or whatever speaks
// its HTTP API, instant queries in PromQL.
//
// The query is sent as the operator wrote it. The answer must be an instant vector or a scalar,
// whole and well-formed: what client_golang would read as zero for want of a value is an error
// here (see answer.go).
package prometheus

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/httpclient"
)

// Options are the keys of a [sources.NAME] table with driver = "prometheus".
type Options struct {
	httpclient.Options
}

// Defaults are the Options of an empty table.
func Defaults() Options { return Options{httpclient.Defaults()} }

// Driver returns the driver "prometheus".
func Driver() sources.Driver { return sources.Driver{Name: "prometheus", Open: open} }

func open(_ sources.Environment, table options.Table) (sources.Source, error) {
	o := Defaults()
	client, err := httpclient.Open(table, &o, &o.Options)
	if err != nil {
		return nil, err
	}
	return &source{client: client, api: v1.NewAPI(apiClient{client})}, nil
}

// source is an opened table. It implements sources.Querier and sources.QueryChecker.
type source struct {
	client *httpclient.Client
	api    v1.API
}

// Close closes idle connections.
func (s *source) Close() error {
	s.client.Close()
	return nil
}

// Query evaluates q as of `at`, to the millisecond. With CheckTimestamp it asks a second query at
// the same time, timestamp(q), and joins the two by labels.
func (s *source) Query(ctx context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	at = at.Truncate(time.Millisecond)
	series, warnings, err := s.instant(ctx, q.Text, at)
	if err != nil {
		return nil, err
	}
	if q.CheckTimestamp && len(series) > 0 {
		// The line end closes a comment the query may end in.
		times, more, err := s.instant(ctx, "timestamp("+q.Text+"\n)", at)
		if err != nil {
			return nil, err
		}
		series = withTimes(series, times)
		warnings = append(warnings, more...)
	}
	return sources.NewResult(series, warnings), nil
}

func (s *source) instant(ctx context.Context, text string, at time.Time) ([]sources.Series, []string, error) {
	value, warnings, _, err := s.api.Query(ctx, text, at, v1.WithTimeout(s.client.Options().Timeout))
	if err != nil {
		return nil, nil, s.failure(text, err)
	}
	series, err := seriesOf(value)
	if err != nil {
		return nil, nil, sources.Errorf(sources.KindOf(err), "%s answered query %q %w", s.client, text, err)
	}
	return series, warnings, nil
}

// failure gives every error of the API a kind and the query.
func (s *source) failure(text string, err error) error {
	var inAPI *v1.Error
	if !errors.As(err, &inAPI) {
		return sources.Errorf(sources.KindOf(err), "query %q: %w", text, err)
	}
	remark := sources.Cut(inAPI.Msg, sources.LongestRemark)
	switch inAPI.Type {
	case v1.ErrBadData, v1.ErrExec:
		return sources.Errorf(sources.BadQuery, "%s refuses query %q: %s", s.client, text, remark)
	case v1.ErrTimeout, v1.ErrCanceled, v1.ErrServer:
		return sources.Errorf(sources.Unavailable, "%s cannot answer query %q: %s", s.client, text, remark)
	}
	return sources.Errorf(sources.Garbled, "%s answered query %q with what is no answer of a Prometheus: %s", s.client, text, remark)
}

// apiClient is an api.Client whose answers are whole, of a status the API package understands, and
// without holes. The errors it makes pass through the API package unchanged.
type apiClient struct{ client *httpclient.Client }

// URL implements api.Client. No endpoint used here has arguments.
func (c apiClient) URL(endpoint string, _ map[string]string) *url.URL {
	u := c.client.URL()
	return u.JoinPath(endpoint)
}

// Do implements api.Client. The response is returned with an error too: the API package looks at
// its status to try again with GET where POST is forbidden.
func (c apiClient) Do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	resp, body, err := c.client.Do(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if err := checkAnswer(c.client, resp.StatusCode, body); err != nil {
		return resp, nil, err
	}
	return resp, body, nil
}

var _ api.Client = apiClient{}
