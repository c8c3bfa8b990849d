package algorithm

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShiftedStateDecidesTheSameSoMuchLater(t *testing.T) {
	spec := Spec{
		MinReplicas: 1, MaxReplicas: 50, Settings: DefaultSettings(),
		Metrics:  []Metric{{Type: TypeExternal, Name: "q", Target: TargetValue{Kind: KindAverageValue, Value: 10_000}}},
		Behavior: &Behavior{},
	}.WithDefaults()
	at := func(n int) time.Time { return time.Unix(1_800_000_000, 0).Add(time.Duration(n) * 15 * time.Second) }
	loads := []Quantity{20_000, 80_000, 400_000, 400_000, 90_000, 90_000, 30_000, 30_000, 30_000, 10_000}
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		var straight, shifted State
		size, replicas := int32(2), int32(2)
		for n := range 60 {
			late := at(n)
			if n == 20 {
				before := shifted
				shifted = shifted.Shift(jump)
				if diff := cmp.Diff(before, shifted.Shift(-jump)); diff != "" {
					t.Fatalf("there and back is not where it was:\n%s", diff)
				}
			}
			if n >= 20 {
				late = late.Add(jump)
			}
			load := []Quantity{loads[n%len(loads)] / Quantity(1+n/10)}
			straight, size = pass(&spec, straight, at(n), size, load)
			shifted, replicas = pass(&spec, shifted, late, replicas, load)
			if size != replicas {
				t.Fatalf("jump of %s: evaluation %d wants %d replicas, want %d", jump, n, replicas, size)
			}
		}
	}
}

func pass(spec *Spec, s State, at time.Time, size int32, values []Quantity) (State, int32) {
	d, s := Decide(at, spec, s, &Observation{SpecReplicas: size, StatusReplicas: size, Readings: []Reading{{Values: values}}})
	if d.Rescale {
		s = Applied(at, spec, &d, s, nil)
	}
	return s, d.Desired
}
