// Package scrape is the driver "scrape": it reads the metrics page of one process itself, in the
// Prometheus text format or OpenMetrics, for those who run no Prometheus server.
//
// A query is a selector such as `queue_messages{queue="web"}`. The answer holds the series of the
// page as they stand there: gauges, counters (their totals, not their rates), and the _sum, _count,
// _bucket and quantile series of histograms and summaries. The page is read once per evaluation,
// whatever the number of queries.
package scrape

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/httpclient"
)

// Options are the keys of a [sources.NAME] table with driver = "scrape".
type Options struct {
	httpclient.Options
}

// Defaults are the Options of an empty table.
func Defaults() Options { return Options{httpclient.Defaults()} }

// Driver returns the driver "scrape".
func Driver() sources.Driver { return sources.Driver{Name: "scrape", Open: open} }

func open(_ sources.Environment, table options.Table) (sources.Source, error) {
	o := Defaults()
	client, err := httpclient.Open(table, &o, &o.Options)
	if err != nil {
		return nil, err
	}
	// The client's own deadline comes first, for it knows better what it waited for.
	patience := o.Timeout + time.Second
	return &source{client: client, pages: sources.NewShared(page{client}, patience, 1)}, nil
}

// source is an opened table. It implements sources.Querier and sources.QueryChecker.
type source struct {
	client *httpclient.Client
	pages  *sources.Shared
}

// Close closes idle connections.
func (s *source) Close() error {
	s.client.Close()
	return nil
}

// Query returns the series of the page that q selects. A sample has the time that stands on the
// page, or else that of the evaluation.
func (s *source) Query(ctx context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	matchers, err := parseSelector(q.Text)
	if err != nil {
		return nil, sources.Errorf(sources.BadQuery, "query %q %w", q.Text, err)
	}
	whole, err := s.pages.Query(ctx, sources.Query{Text: "GET " + s.client.String()}, at)
	if err != nil {
		return nil, err
	}
	return sources.NewResult(selectSeries(whole, matchers), nil), nil
}

// CheckQuery says offline whether q is a selector.
func (s *source) CheckQuery(q sources.Query) error {
	if _, err := parseSelector(q.Text); err != nil {
		return sources.Errorf(sources.BadQuery, "%w", err)
	}
	return nil
}

func parseSelector(text string) ([]*labels.Matcher, error) {
	matchers, err := parser.NewParser(parser.Options{}).ParseMetricSelector(text)
	if err != nil {
		return nil, sources.Errorf(sources.BadQuery, "must be a plain selector such as queue_messages{queue=\"web\"}, "+
			"for nothing can be computed here: %w", err)
	}
	return matchers, nil
}

// selectSeries returns the series that all matchers fit. Those of one name are found at once.
func selectSeries(whole *sources.Result, matchers []*labels.Matcher) []sources.Series {
	candidates := whole.Series()
	for _, m := range matchers {
		if m.Name == labels.MetricName && m.Type == labels.MatchEqual {
			candidates = whole.Select(map[string]string{labels.MetricName: m.Value})
			break
		}
	}
	var selected []sources.Series
	for i := range candidates {
		if matches(matchers, candidates[i].Labels) {
			selected = append(selected, candidates[i])
		}
	}
	return selected
}

func matches(matchers []*labels.Matcher, of map[string]string) bool {
	for _, m := range matchers {
		if !m.Matches(of[m.Name]) {
			return false
		}
	}
	return true
}

// page reads the whole page, whatever the query.
type page struct{ client *httpclient.Client }

const accept = "text/plain;version=0.0.4;q=1,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1"

func (p page) Query(ctx context.Context, _ sources.Query, at time.Time) (*sources.Result, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.client.URL().String(), nil)
	if err != nil {
		return nil, sources.Errorf(sources.Unavailable, "cannot ask %s: not a request", p.client)
	}
	req.Header.Set("Accept", accept)
	resp, body, err := p.client.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := p.client.CheckStatus(resp.StatusCode, "", "is the url that of a metrics page?"); err != nil {
		return nil, err
	}
	series, err := parsePage(body, resp.Header.Get("Content-Type"), at)
	if err != nil {
		return nil, sources.Errorf(sources.Garbled, "%s answers with what is no metrics page: %w", p.client, err)
	}
	return sources.NewResult(series, nil), nil
}
