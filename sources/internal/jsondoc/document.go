package jsondoc

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hpad/hpad/sources"
)

// elementsOf returns the elements of an array or an object with their keys; nil of anything else.
func elementsOf(value any) (keys []string, elements []any) {
	switch v := value.(type) {
	case []any:
		keys = make([]string, len(v))
		for i := range v {
			keys[i] = strconv.Itoa(i)
		}
		return keys, v
	case map[string]any:
		keys = slices.AppendSeq(make([]string, 0, len(v)), maps.Keys(v))
		slices.Sort(keys)
		for _, key := range keys {
			elements = append(elements, v[key])
		}
		return keys, elements
	}
	return nil, nil
}

// Fetch returns the text of a document, and errors of package sources.
type Fetch func(ctx context.Context) ([]byte, error)

// Check says offline whether a query is a path.
func Check(q sources.Query) error {
	path, err := Parse(q.Text)
	if err != nil {
		return sources.Errorf(sources.BadQuery, "%w", err)
	}
	if q.CheckTimestamp && !path.HasTime() {
		return sources.Errorf(sources.BadQuery, "has no %s, so that its samples have the time of the evaluation and never look old: "+
			"check_timestamp needs a path such as .queue{%s=.updated}.length", timeLabel, timeLabel)
	}
	return nil
}

// Document answers queries from one document, which is fetched once per evaluation time, whatever
// the number of queries.
type Document struct {
	name   string
	shared *sources.Shared

	mu     sync.Mutex
	result *sources.Result // of which parsed is the document
	parsed any
	err    error
}

// New returns a Document that errors call by the name. Patience bounds a fetch.
func New(name string, fetch Fetch, patience time.Duration) *Document {
	return &Document{name: name, shared: sources.NewShared(whole{fetch}, patience, 1)}
}

// Query fetches the document, unless that was done for this time, and returns the series of the
// path.
func (d *Document) Query(ctx context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	path, err := Parse(q.Text)
	if err != nil {
		return nil, sources.Errorf(sources.BadQuery, "query %q %w", q.Text, err)
	}
	result, err := d.shared.Query(ctx, sources.Query{Text: d.name}, at)
	if err != nil {
		return nil, err
	}
	document, err := d.parse(result)
	if err != nil {
		return nil, err
	}
	return path.Result(document, at)
}

// parse parses the latest document once.
func (d *Document) parse(result *sources.Result) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.result != result {
		d.result = result
		d.parsed, d.err = Parsed(d.name, []byte(result.Series()[0].Labels[textLabel]))
	}
	return d.parsed, d.err
}

// Parsed reads the document of that name.
func Parsed(name string, text []byte) (any, error) {
	document, err := parse(text)
	if err != nil {
		return nil, sources.Errorf(sources.Garbled, "the answer of %s %w", name, err)
	}
	return document, nil
}

// Result returns the series of a parsed document as the answer to the path.
func (p *Path) Result(document any, at time.Time) (*sources.Result, error) {
	series, err := p.Series(document, at)
	if err != nil {
		return nil, sources.Errorf(sources.KindOf(err), "query %q %w", p.text, err)
	}
	return sources.NewResult(series, nil), nil
}

// whole is the document as the one series of a result, in a label: what Shared can share.
type whole struct{ fetch Fetch }

const textLabel = "text"

func (w whole) Query(ctx context.Context, _ sources.Query, at time.Time) (*sources.Result, error) {
	text, err := w.fetch(ctx)
	if err != nil {
		return nil, err
	}
	return sources.NewResult([]sources.Series{{Labels: map[string]string{textLabel: string(text)}, Time: at}}, nil), nil
}
