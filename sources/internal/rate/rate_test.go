package rate

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
)

var origin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// step is a reading and the usage expected of it.
type step struct {
	at, used time.Duration
	// stamp is by how much the counter's own clock is off; it has none if nil.
	stamp *time.Duration
	want  Usage
}

func by(d time.Duration) *time.Duration { return &d }

func TestUsageIsGrowthOverTime(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	tests := map[string]struct {
		started time.Duration // before the origin; 0 is unknown
		cpus    int
		steps   []step
	}{
		"the first reading says nothing": {steps: []step{{at: 0, used: 99 * s}}},
		"the second does": {steps: []step{
			{at: 0, used: 10 * s},
			{at: 10 * s, used: 15 * s, want: Usage{500, 10 * s}},
		}},
		"what is finer than a thousandth is rounded up": {steps: []step{
			{at: 0, used: 10 * s},
			{at: 10 * s, used: 10*s + 3*ms + 10, want: Usage{1, 10 * s}},
			{at: 20 * s, used: 10*s + 14*ms, want: Usage{2, 10 * s}},
		}},
		"what is finer than a billionth is dropped": {steps: []step{
			{at: 0, used: 10 * s},
			{at: 10 * s, used: 10*s + 9, want: Usage{0, 10 * s}},
		}},
		"an idle counter is zero": {steps: []step{
			{at: 0, used: 10 * s},
			{at: 10 * s, used: 10 * s, want: Usage{0, 10 * s}},
		}},
		"a counter that went back says nothing until the next": {steps: []step{
			{at: 0, used: 10 * s},
			{at: 10 * s, used: 1 * s},
			{at: 20 * s, used: 6 * s, want: Usage{500, 10 * s}},
		}},
		"a reading soon after another is measured from the one before": {steps: []step{
			{at: 0, used: 0},
			{at: 10 * s, used: 10 * s, want: Usage{1000, 10 * s}},
			{at: 10*s + 500*ms, used: 10 * s, want: Usage{953, 10*s + 500*ms}},
			{at: 11 * s, used: 10*s + 500*ms, want: Usage{500, s}},
		}},
		"a reading soon after the first says nothing": {steps: []step{
			{at: 0, used: 0},
			{at: 500 * ms, used: s},
			{at: s, used: s, want: Usage{1000, s}},
		}},
		"an instance just started is measured from its start": {started: 10 * s, steps: []step{
			{at: 0, used: 5 * s, want: Usage{500, 10 * s}},
			{at: 10 * s, used: 6 * s, want: Usage{100, 10 * s}},
		}},
		"one too young is not":       {started: 1999 * ms, steps: []step{{at: 0, used: s}}},
		"one too old is not":         {started: 61 * s, steps: []step{{at: 0, used: s}}},
		"one from the future is not": {started: -10 * s, steps: []step{{at: 0, used: s}}},
		"more than the machine has is not believed": {cpus: 2, steps: []step{
			{at: 0, used: 0},
			{at: 10 * s, used: 30 * s},
			{at: 20 * s, used: 50 * s, want: Usage{2000, 10 * s}},
		}},
		"the counter's own clock measures": {steps: []step{
			{at: 0, used: 0, stamp: by(time.Hour)},
			{at: 10 * s, used: 9 * s, stamp: by(time.Hour - s), want: Usage{1000, 9 * s}},
		}},
		"a clock that jumped is not believed": {steps: []step{
			{at: 0, used: 0, stamp: by(0)},
			{at: 10 * s, used: 9 * s, stamp: by(-5 * s)},
			{at: 20 * s, used: 10 * s, stamp: by(-5 * s), want: Usage{100, 10 * s}},
		}},
		"an answer given twice says what it said": {steps: []step{
			{at: 0, used: 0, stamp: by(0)},
			{at: 2 * s, used: s, stamp: by(0), want: Usage{500, 2 * s}},
			{at: 3 * s, used: s, stamp: by(-s), want: Usage{500, 2 * s}},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var c Counter
			var started time.Time
			if test.started != 0 {
				started = origin.Add(-test.started)
			}
			for i, step := range test.steps {
				r := Reading{Used: step.used, Taken: origin.Add(step.at)}
				if step.stamp != nil {
					r.Stamp = r.Taken.Add(*step.stamp)
				}
				got := c.Add(r, started, test.cpus)
				if diff := cmp.Diff(step.want, got); diff != "" {
					t.Errorf("reading %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestRestartForgetsTheReadingsButNotTheSight(t *testing.T) {
	var c Counter
	c.Add(Reading{Used: time.Second, Taken: origin}, time.Time{}, 0)
	c.Restart()
	later := origin.Add(10 * time.Second)
	if got := c.Add(Reading{Used: 2 * time.Second, Taken: later}, origin, 0); got != (Usage{}) {
		t.Errorf("after a restart the usage is %+v", got)
	}
	got := c.Add(Reading{Used: 3 * time.Second, Taken: later.Add(10 * time.Second)}, origin, 0)
	if want := (Usage{100, 10 * time.Second}); got != want {
		t.Errorf("usage is %+v, want %+v", got, want)
	}
}

func TestNoUsageIsNoSample(t *testing.T) {
	if got := (Usage{}).Sample(origin); got != (algorithm.Sample{}) {
		t.Errorf("sample is %+v", got)
	}
	got := Usage{Cores: 5, Window: time.Second}.Sample(origin)
	want := algorithm.Sample{Present: true, Value: 5, Time: origin, Window: time.Second}
	if got != want {
		t.Errorf("sample is %+v, want %+v", got, want)
	}
}

func FuzzUsageIsNeverNegativeNorOfNoTime(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), int64(time.Second), int64(math.MaxInt64), 4)
	f.Add(int64(5e9), int64(9e9), int64(1e9), int64(1e9), int64(3e9), 0)
	f.Fuzz(func(t *testing.T, used1, used2, used3, gap1, gap2 int64, cpus int) {
		if used1 < 0 || used2 < 0 || used3 < 0 || gap1 < 0 || gap2 < 0 {
			t.Skip()
		}
		var c Counter
		at := origin
		for i, used := range []int64{used1, used2, used3} {
			u := c.Add(Reading{Used: time.Duration(used), Taken: at}, origin.Add(-10*time.Second), cpus)
			if u.Cores < 0 || u.Window < 0 || u.Window > 0 && u.Window < MinWindow {
				t.Errorf("reading %d: %+v", i, u)
			}
			at = at.Add(time.Duration([]int64{gap1, gap2, 0}[i]))
		}
	})
}
