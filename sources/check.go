package sources

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// skew is how far a sample may be ahead of the time of the evaluation.
const skew = 10 * time.Second

// check is the doubt every answer meets before it counts.
type check struct {
	result *Result
	sel    map[string]string
	maxAge time.Duration
	now    time.Time
}

// selected returns the series the metric means, at least one.
func (c *check) selected() ([]Series, error) {
	series := c.result.Select(c.sel)
	switch {
	case len(series) > 0:
		return series, nil
	case len(c.result.series) == 0:
		return nil, c.errorf(NoData, "gave no series, must give one at least")
	}
	return nil, c.errorf(NoData, "gave %d series, none with %s, as for example %s",
		len(c.result.series), showLabels(c.sel), show(&c.result.series[0]))
}

// value is the quantity of a series that is neither invalid nor stale.
func (c *check) value(s *Series) (algorithm.Quantity, error) {
	q, err := c.quantity(s)
	if err != nil {
		return 0, err
	}
	if err := c.fromFuture(s); err != nil {
		return 0, err
	}
	if c.tooOld(s) {
		return 0, c.stale(s)
	}
	return q, nil
}

func (c *check) quantity(s *Series) (algorithm.Quantity, error) {
	q, err := QuantityOf(s.Value)
	if err == nil {
		return q, nil
	}
	hint := ""
	if math.IsNaN(s.Value) {
		hint = " (0/0 gives NaN; a comparison such as > 0 under the fraction leaves such series out)"
	}
	return 0, c.errorf(Invalid, "gave series %s whose value %w%s", show(s), err, hint)
}

func (c *check) fromFuture(s *Series) error {
	if ahead := s.Time.Sub(c.now); ahead > skew {
		return c.errorf(Stale, "gave series %s with a sample %s in the future, allowed are %s: "+
			"are the clocks set right?", show(s), ahead.Round(time.Millisecond), skew)
	}
	return nil
}

func (c *check) tooOld(s *Series) bool {
	return s.Time.IsZero() || c.maxAge > 0 && c.now.Sub(s.Time) > c.maxAge
}

func (c *check) stale(s *Series) error {
	if s.Time.IsZero() {
		return c.errorf(Stale, "gave series %s with a sample of unknown time", show(s))
	}
	return c.errorf(Stale, "gave series %s with a sample %s old, max_age is %s",
		show(s), c.now.Sub(s.Time).Round(time.Millisecond), c.maxAge)
}

// tooMany names the first series, which is mostly enough to see by what to aggregate.
func (c *check) tooMany(series []Series) error {
	const shown = 3
	names := make([]string, 0, shown+1)
	for i := range series {
		if i == shown {
			names = append(names, "…")
			break
		}
		names = append(names, show(&series[i]))
	}
	return c.errorf(TooMany, "gave %d series, must give one: %s; aggregate them in the query, or pick one with select",
		len(series), strings.Join(names, " "))
}

func (c *check) errorf(kind Kind, format string, args ...any) error {
	if c.result.query == "" {
		return Errorf(kind, "the query "+format, args...)
	}
	return Errorf(kind, "query %q "+format, append([]any{shorten(c.result.query)}, args...)...)
}

func show(s *Series) string { return showLabels(s.Labels) }

// showLabels writes labels as PromQL does, cut to what a line of a log can hold.
func showLabels(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if name != "__name__" {
			pairs = append(pairs, fmt.Sprintf("%s=%q", name, labels[name]))
		}
	}
	return shorten(labels["__name__"] + "{" + strings.Join(pairs, ", ") + "}")
}

func shorten(s string) string { return Cut(s, 200) }

// LongestRemark is how many bytes of what a server says an error repeats: enough for any message
// written for people, and no more of any other.
const LongestRemark = 1000

// Cut returns s, or its begin if it is longer than so many bytes.
func Cut(s string, longest int) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}
