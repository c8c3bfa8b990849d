package sources

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Series is one series of an answer.
type Series struct {
	// Labels are empty for a scalar.
	Labels map[string]string
	Value  float64
	// Time is the sample's own time where asked for, else that of the evaluation. The zero Time
	// says that the source knows of none, and is always too old.
	Time time.Time
}

// Result is the answer to a Query. It is shared between workloads and never changed.
type Result struct {
	query    string
	series   []Series
	warnings []string

	mu      sync.Mutex
	indexes map[string]map[string][]Series
}

// NewResult makes a Result of the series, in the source's order, and of its first few warnings.
func NewResult(series []Series, warnings []string) *Result {
	const most = 10
	warnings = slices.Clone(warnings[:min(most, len(warnings))])
	for i := range warnings {
		warnings[i] = Cut(warnings[i], LongestRemark)
	}
	return &Result{series: series, warnings: warnings}
}

// Of returns the Result as the answer to q, which errors about it then name.
func (r *Result) Of(q Query) *Result {
	return &Result{query: q.Text, series: r.series, warnings: r.warnings}
}

// Series returns all series. The caller does not change them.
func (r *Result) Series() []Series { return r.series }

// Warnings returns what the source remarked on its answer.
func (r *Result) Warnings() []string { return r.warnings }

// Select returns the series that have all the given labels, in the source's order; an empty value
// also fits a label that is not there. The first call for a set of label names indexes the answer
// by them, so that many workloads can pick theirs in constant time.
func (r *Result) Select(labels map[string]string) []Series {
	switch len(labels) {
	case 0:
		return r.series
	case 1:
		for name, value := range labels {
			return r.index([]string{name})[value]
		}
	}
	names := make([]string, 0, len(labels))
	for name := range labels {
		names = append(names, name)
	}
	slices.Sort(names)
	return r.index(names)[joined(names, labels)]
}

func (r *Result) index(names []string) map[string][]Series {
	key := strings.Join(names, "\xff")
	r.mu.Lock()
	defer r.mu.Unlock()
	if index, ok := r.indexes[key]; ok {
		return index
	}
	if r.indexes == nil {
		r.indexes = map[string]map[string][]Series{}
	}
	r.indexes[key] = group(r.series, names)
	return r.indexes[key]
}

// group returns the series by their values of the labels. All groups share one array, which is
// what keeps 10,000 groups of one series cheap.
func group(series []Series, names []string) map[string][]Series {
	keys := make([]string, len(series))
	counts := make(map[string]int, len(series))
	for i := range series {
		keys[i] = joined(names, series[i].Labels)
		counts[keys[i]]++
	}
	array := make([]Series, 0, len(series))
	groups := make(map[string][]Series, len(counts))
	for i, key := range keys {
		members, begun := groups[key]
		if !begun {
			from, count := len(array), counts[key]
			array = array[:from+count]
			members = array[from : from : from+count]
		}
		groups[key] = append(members, series[i])
	}
	return groups
}

// joined needs no escape: 0xff is in no valid UTF-8, and labels are valid UTF-8.
func joined(names []string, labels map[string]string) string {
	if len(names) == 1 {
		return labels[names[0]]
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString(labels[name])
		b.WriteByte(0xff)
	}
	return b.String()
}
