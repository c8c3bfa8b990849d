// Package rate turns readings of a cumulative CPU counter into usage.
//
// Usage is the growth of the counter between two readings, divided by the time between them, as the
// Kubernetes metrics server computes it. An average over a window that ended where another began
// would be made up, so whatever does not fit together gives no usage at all: a counter that
// went back, a clock that jumped, more CPU time than the machine has.
package rate

import (
	"math"
	"time"

	"github.com/hpad/hpad/algorithm"
)

const (
	// MinWindow is the smallest window. A reading that follows another sooner (several workloads on
	// one instance, at different times) is measured from the one before that.
	MinWindow = time.Second
	// FreshMin and FreshMax bound the age at which an instance seen for the first time is measured
	// from its start, when its counter was 0. Younger ones would be all start-up, the average of
	// older ones would say little of now.
	FreshMin = 2 * time.Second
	FreshMax = time.Minute
	// maxSkew is how far the counter's own clock may be from ours over one window.
	maxSkew = 2 * time.Second
)

// Reading is the state of a counter at one moment.
type Reading struct {
	// Used is the CPU time used since the counter began.
	Used time.Duration
	// Taken is when it was read, on this machine, with the monotonic clock.
	Taken time.Time
	// Stamp is when it was read by the clock of whoever read it for us; zero if we did ourselves.
	Stamp time.Time
}

// Usage is an average over the window that ends with the last reading. The zero Usage means that
// there is none to be told.
type Usage struct {
	Cores  algorithm.Quantity
	Window time.Duration
}

// Sample is the usage as a sample of an evaluation time.
func (u Usage) Sample(at time.Time) algorithm.Sample {
	if u.Window == 0 {
		return algorithm.Sample{}
	}
	return algorithm.Sample{Present: true, Value: u.Cores, Time: at, Window: u.Window}
}

// Counter is the memory of one counter. The zero Counter has seen nothing.
type Counter struct {
	seen bool
	// anchor is the last reading at least MinWindow after the one before it, which is base.
	base, anchor Reading
}

// Restart says that the counter begins anew: the next reading has nothing to be compared with.
func (c *Counter) Restart() { c.base, c.anchor = Reading{}, Reading{} }

// Seen tells whether there was a reading ever.
func (c *Counter) Seen() bool { return c.seen }

// Add takes a reading and returns the usage up to it. Started is the time the counter began (zero if
// not known), used for the very first reading only; cpus is the number of processors, which nothing
// can use more of (0 if not known).
func (c *Counter) Add(r Reading, started time.Time, cpus int) Usage {
	if c.anchor.Taken.IsZero() {
		if !c.seen {
			c.base = fresh(r, started)
		}
		c.seen, c.anchor = true, r
		return between(c.base, r, cpus)
	}
	window, ok := width(c.anchor, r)
	switch {
	case !ok || window > 0 && r.Used < c.anchor.Used:
		c.base, c.anchor = Reading{}, r
		return Usage{}
	case window < MinWindow:
		return between(c.base, r, cpus)
	}
	c.base, c.anchor = c.anchor, r
	return between(c.base, r, cpus)
}

// fresh is the reading that could have been taken at the start; zero if that was not just now.
func fresh(r Reading, started time.Time) Reading {
	if started.IsZero() {
		return Reading{}
	}
	now := r.Taken
	if !r.Stamp.IsZero() {
		now = r.Stamp
	}
	age := now.Sub(started)
	if age < FreshMin || age > FreshMax {
		return Reading{}
	}
	start := Reading{Taken: r.Taken.Add(-age)}
	if !r.Stamp.IsZero() {
		start.Stamp = r.Stamp.Add(-age)
	}
	return start
}

// width is the time between two readings, false if the clocks disagree about it.
func width(from, to Reading) (time.Duration, bool) {
	ours := to.Taken.Sub(from.Taken)
	if from.Stamp.IsZero() || to.Stamp.IsZero() {
		return ours, true
	}
	theirs := to.Stamp.Sub(from.Stamp)
	return theirs, (theirs - ours).Abs() <= maxSkew
}

func between(from, to Reading, cpus int) Usage {
	if from.Taken.IsZero() {
		return Usage{}
	}
	window, ok := width(from, to)
	used := to.Used - from.Used
	if !ok || window < MinWindow || used < 0 || cpus > 0 && used > possible(window, cpus) {
		return Usage{}
	}
	return Usage{Cores: cores(used, window), Window: window}
}

// possible is the most CPU time there is in a window, with room for the steps of the counters.
func possible(window time.Duration, cpus int) time.Duration {
	most := (float64(window)*1.02 + float64(100*time.Millisecond)) * float64(cpus)
	if most >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(most)
}

// cores counts whole billionths of a core as the metrics server does, then rounds up to a
// thousandth as the HPA does.
func cores(used, window time.Duration) algorithm.Quantity {
	billionths := uint64(float64(used) / window.Seconds())
	return algorithm.Quantity((billionths + 999_999) / 1_000_000)
}
