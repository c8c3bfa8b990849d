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
	// Time is the sample's own time where asked for, else that of the evaluation.
	Time time.Time
}

// Result is the answer to a Query. It is shared between workloads and never changed.
type Result struct {
	series   []Series
	warnings []string

	mu      sync.Mutex
	indexes map[string]map[string][]Series
}

// NewResult makes a Result of the series, in the source's order, and of its warnings.
func NewResult(series []Series, warnings []string) *Result {
	return &Result{series: series, warnings: warnings}
}

// Series returns all series. The caller does not change them.
func (r *Result) Series() []Series { return r.series }

// Warnings returns what the source remarked on its answer.
func (r *Result) Warnings() []string { return r.warnings }

// Select returns the series that have all the given labels. The first call for a set of label
// names indexes the answer by them, so that many workloads can pick theirs in constant time.
func (r *Result) Select(labels map[string]string) []Series {
	if len(labels) == 0 {
		return r.series
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
	index := make(map[string][]Series, len(r.series))
	for _, s := range r.series {
		k := joined(names, s.Labels)
		index[k] = append(index[k], s)
	}
	if r.indexes == nil {
		r.indexes = map[string]map[string][]Series{}
	}
	r.indexes[key] = index
	return index
}

func joined(names []string, labels map[string]string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(labels[name])
		b.WriteByte(0xff)
	}
	return b.String()
}
