package algorithm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hpad/hpad/algorithm"
)

// FuzzDecide holds what is true of every decision against random histories. Wild ones
// hold what no validation would let through.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(150) {
		f.Add(seed, seed%2 == 1)
	}
	f.Fuzz(func(t *testing.T, seed uint64, wild bool) {
		c := newChance(seed, wild)
		now, state, replicas := epoch, algorithm.State{}, int32(c.IntN(8))
		spec := c.spec()
		for range 12 {
			now = now.Add(c.advance())
			if c.one(10) {
				spec = c.spec()
			}
			obs := c.observe(now, &spec, replicas)
			d, next := decidesTheSameTwice(t, now, &spec, state, &obs)
			keepsItsPromises(t, &spec, &obs, &d)
			state = survivesStorage(t, now, &spec, next, &obs)
			if d.Rescale {
				refusal := pick(c, nil, nil, errors.New("refused"))
				state = appliesToACopy(t, now, &spec, &d, state, refusal)
				if refusal == nil {
					replicas = d.Desired
				}
			}
		}
	})
}

// unexported lets cmp look into what WithDefaults filled in, and compares errors by their text.
var unexported = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Comparer(func(a, b error) bool { return a == b || a != nil && b != nil && a.Error() == b.Error() }),
	cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
	cmpopts.EquateNaNs(),
}

// decidesTheSameTwice also proves that the arguments are left alone.
func decidesTheSameTwice(t *testing.T, now time.Time, spec *algorithm.Spec, state algorithm.State,
	obs *algorithm.Observation) (algorithm.Decision, algorithm.State) {
	t.Helper()
	stateBefore := clone(t, state)
	before := text(t, spec, obs)
	d, next := algorithm.Decide(now, spec, state, obs)
	if diff := cmp.Diff(stateBefore, state, unexported); diff != "" {
		t.Fatalf("Decide changed the state it was given: -before +after\n%s", diff)
	}
	if diff := cmp.Diff(before, text(t, spec, obs)); diff != "" {
		t.Fatalf("Decide changed its arguments: -before +after\n%s", diff)
	}
	again, nextAgain := algorithm.Decide(now, spec, state, obs)
	if diff := cmp.Diff([]any{d, next}, []any{again, nextAgain}, unexported); diff != "" {
		t.Fatalf("the same arguments gave another decision: -first +second\n%s", diff)
	}
	if diff := cmp.Diff(d.Explain(spec), again.Explain(spec)); diff != "" {
		t.Fatalf("the same decision was explained in another way: -first +second\n%s", diff)
	}
	complete := spec.WithDefaults()
	if d, _ := algorithm.Decide(now, &complete, state, obs); d.Desired != again.Desired {
		t.Fatalf("with defaults filled in before: %d, else %d", d.Desired, again.Desired)
	}
	return d, next
}

// text writes out all that hangs on a spec and an observation.
func text(t *testing.T, spec *algorithm.Spec, obs *algorithm.Observation) string {
	t.Helper()
	behavior, err := json.Marshal(spec.Behavior)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v\n%s\n%+v", *obs, behavior, spec.Metrics)
}

func keepsItsPromises(t *testing.T, spec *algorithm.Spec, obs *algorithm.Observation, d *algorithm.Decision) {
	t.Helper()
	valid := len(spec.Validate()) == 0
	if d.Rescale != (d.Desired != obs.SpecReplicas) {
		t.Errorf("rescale %t from %d to %d", d.Rescale, obs.SpecReplicas, d.Desired)
	}
	if d.Rescale && valid && (d.Desired < spec.MinReplicas || d.Desired > spec.MaxReplicas) {
		t.Errorf("rescale to %d, outside of %d … %d", d.Desired, spec.MinReplicas, spec.MaxReplicas)
	}
	if d.Rescale && obs.TargetErr != nil {
		t.Error("a target that could not be read is scaled")
	}
	failed := 0
	for i := range d.Metrics {
		m := &d.Metrics[i]
		if m.Err != nil {
			failed++
		}
		if m.Within != (m.Kept == algorithm.KeptWithin) {
			t.Errorf("metric %d: within %t, kept %d", i, m.Within, m.Kept)
		}
	}
	switch {
	case failed == 0:
	case d.Err == nil:
		t.Error("a metric failed, and nobody is told")
	case failed == len(d.Metrics) && d.Rescale:
		t.Error("scaled though every metric failed")
	case d.Path == algorithm.PathMetrics && d.Recommended && d.Recommendation < obs.SpecReplicas:
		t.Error("a recommendation to scale down though a metric failed")
	case valid && d.Desired < obs.SpecReplicas:
		t.Error("scaled down though a metric failed")
	}
	if d.Path == algorithm.PathMetrics && obs.Selector != algorithm.SelectorOK && d.Rescale {
		t.Error("scaled by the samples of instances that may be another's")
	}
}

// survivesStorage proves that a state saved as JSON leads to the same decision as the one in memory.
func survivesStorage(t *testing.T, now time.Time, spec *algorithm.Spec, state algorithm.State,
	obs *algorithm.Observation) algorithm.State {
	t.Helper()
	loaded := clone(t, state)
	later := now.Add(15 * time.Second)
	fromMemory, nextFromMemory := algorithm.Decide(later, spec, state, obs)
	fromStorage, nextFromStorage := algorithm.Decide(later, spec, loaded, obs)
	if diff := cmp.Diff([]any{fromMemory, nextFromMemory}, []any{fromStorage, nextFromStorage}, unexported); diff != "" {
		t.Fatalf("a state decides otherwise after it was saved: -in memory +loaded\n%s", diff)
	}
	return state
}

func appliesToACopy(t *testing.T, now time.Time, spec *algorithm.Spec, d *algorithm.Decision,
	state algorithm.State, refusal error) algorithm.State {
	t.Helper()
	before := clone(t, state)
	next := algorithm.Applied(now, spec, d, state, refusal)
	if diff := cmp.Diff(before, state, unexported); diff != "" {
		t.Fatalf("Applied changed the state it was given: -before +after\n%s", diff)
	}
	if (d.Outcome(refusal) == nil) != (refusal == nil && d.Err == nil) {
		t.Errorf("outcome %v of error %v and refusal %v", d.Outcome(refusal), d.Err, refusal)
	}
	return next
}

// clone goes through JSON, as a state does that is saved.
func clone(t *testing.T, state algorithm.State) (copied algorithm.State) {
	t.Helper()
	text, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &copied); err != nil {
		t.Fatal(err)
	}
	return copied
}

// A measured number without end must not become a count: quantities refuse it, ratios saturate.
func TestCountsSaturate(t *testing.T) {
	spec := algorithm.Spec{
		MinReplicas: 1, MaxReplicas: 1 << 30, Settings: algorithm.DefaultSettings(),
		Metrics: []algorithm.Metric{{
			Type: algorithm.TypeExternal, Name: "queue",
			Target: algorithm.TargetValue{Kind: algorithm.KindAverageValue, Value: 1},
		}},
	}
	const most = 1<<63 - 1
	tests := []struct {
		name   string
		values []algorithm.Quantity
		want   int32
	}{
		{"one huge series", []algorithm.Quantity{most}, 1<<31 - 1},
		{"a sum that does not fit", []algorithm.Quantity{most, most, 5}, 1<<31 - 1},
		{"a negative sum counts as one that does not fit", []algorithm.Quantity{-5}, 1<<31 - 1},
		{"no more than fits", []algorithm.Quantity{7}, 7},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			obs := algorithm.Observation{SpecReplicas: 3, StatusReplicas: 3}
			obs.Readings = []algorithm.Reading{{Values: test.values}}
			d, _ := algorithm.Decide(epoch, &spec, algorithm.State{}, &obs)
			if d.Metrics[0].Proposal != test.want {
				t.Errorf("asks for %d, want %d", d.Metrics[0].Proposal, test.want)
			}
			if d.Desired > 6 {
				t.Errorf("goes to %d at once", d.Desired)
			}
		})
	}
}
