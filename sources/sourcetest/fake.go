package sourcetest

import (
	"context"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// Fake is a source that answers what it was told to. Its zero value knows no query. It starts no
// goroutine and waits on timers and contexts only, so that it works in a synctest bubble.
type Fake struct {
	mu      sync.Mutex
	answers map[string]answer
	reads   map[string]func(targets.Instance) algorithm.Sample
	readErr error
	latency time.Duration
	check   func(sources.Query) error

	calls    []Call
	inFlight int
	most     int
	closed   int
}

// Call is a query the Fake was asked.
type Call struct {
	Query sources.Query
	At    time.Time
}

type answer struct {
	series   []sources.Series
	warnings []string
	err      error
}

// Answer sets the answer to a query from now on. Series without a Time get that of the evaluation.
func (f *Fake) Answer(text string, series ...sources.Series) {
	f.set(text, answer{series: series})
}

// Value sets the answer to a query to one series without labels.
func (f *Fake) Value(text string, value float64) {
	f.Answer(text, sources.Series{Value: value})
}

// Warn sets the warnings of the answer to a query, and leaves its series.
func (f *Fake) Warn(text string, warnings ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.answers[text]
	a.warnings = warnings
	f.put(text, a)
}

// Fail makes a query fail from now on, until it is given an answer.
func (f *Fake) Fail(text string, err error) {
	f.set(text, answer{err: err})
}

// Measure sets the samples of a resource, of whole instances; a nil function takes them away.
func (f *Fake) Measure(resource string, sample func(targets.Instance) algorithm.Sample) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reads == nil {
		f.reads = map[string]func(targets.Instance) algorithm.Sample{}
	}
	f.reads[resource] = sample
}

// FailResources makes every ReadResource fail, until err is nil again.
func (f *Fake) FailResources(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readErr = err
}

// Delay makes every answer take that long from now on, or until the context ends.
func (f *Fake) Delay(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latency = d
}

// Check sets what CheckQuery returns.
func (f *Fake) Check(check func(sources.Query) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.check = check
}

// Calls returns the queries asked so far, in order.
func (f *Fake) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Call(nil), f.calls...)
}

// MostInFlight returns how many queries were under way at the same time, at most.
func (f *Fake) MostInFlight() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

// Closed returns how often the Fake was closed.
func (f *Fake) Closed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Driver is a driver whose tables all open the Fake. Any key is taken.
func (f *Fake) Driver(name string) sources.Driver {
	return sources.Driver{
		Name: name,
		Open: func(sources.Environment, options.Table) (sources.Source, error) {
			return f, nil
		},
	}
}

// Query implements sources.Querier. A query without an answer is an error of the test.
func (f *Fake) Query(ctx context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	a, known, latency := f.begin(q, at)
	defer f.end()
	if err := wait(ctx, latency); err != nil {
		return nil, err
	}
	switch {
	case !known:
		return nil, sources.Errorf(sources.BadQuery, "the fake source has no answer to query %q", q.Text)
	case a.err != nil:
		return nil, a.err
	}
	series := append([]sources.Series(nil), a.series...)
	for i := range series {
		if series[i].Time.IsZero() {
			series[i].Time = at
		}
	}
	return sources.NewResult(series, a.warnings), nil
}

// ReadResource implements sources.ResourceReader.
func (f *Fake) ReadResource(ctx context.Context, resource, container string, instances []targets.Instance, at time.Time) ([]algorithm.Sample, error) {
	f.mu.Lock()
	read, err, latency := f.reads[resource], f.readErr, f.latency
	f.mu.Unlock()
	if err := wait(ctx, latency); err != nil {
		return nil, err
	}
	switch {
	case err != nil:
		return nil, err
	case read == nil:
		return nil, sources.Errorf(sources.Unsupported, "the fake source does not measure %q", resource)
	}
	samples := make([]algorithm.Sample, len(instances))
	for i, instance := range instances {
		samples[i] = read(instance)
		if samples[i].Present && samples[i].Time.IsZero() {
			samples[i].Time = at
		}
	}
	return samples, nil
}

// CheckQuery implements sources.QueryChecker.
func (f *Fake) CheckQuery(q sources.Query) error {
	f.mu.Lock()
	check := f.check
	f.mu.Unlock()
	if check == nil {
		return nil
	}
	return check(q)
}

// Close counts.
func (f *Fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *Fake) set(text string, a answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(text, a)
}

func (f *Fake) put(text string, a answer) {
	if f.answers == nil {
		f.answers = map[string]answer{}
	}
	f.answers[text] = a
}

func (f *Fake) begin(q sources.Query, at time.Time) (a answer, known bool, latency time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, Call{q, at})
	f.inFlight++
	f.most = max(f.most, f.inFlight)
	a, known = f.answers[q.Text]
	return a, known, f.latency
}

func (f *Fake) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight--
}

func wait(ctx context.Context, latency time.Duration) error {
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return sources.Errorf(sources.Unavailable, "the fake source was not waited for: %w", err)
	}
	return nil
}
