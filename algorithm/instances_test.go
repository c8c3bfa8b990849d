package algorithm_test

import (
	"testing"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// Sums of requests wrap as the HPA's do, so that what is not 0 for the ready instances can be 0
// once missing or unready ones are added.
func TestRequestsThatCancelOutAreAnError(t *testing.T) {
	const quarter = 1 << 62
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name     string
		requests []algorithm.Quantity
		// samples are of the first instances.
		samples []algorithm.Quantity
	}{
		{"missing instances wrap the sum to 0", []algorithm.Quantity{quarter, quarter, quarter, quarter},
			[]algorithm.Quantity{1}},
		{"a negative request of a missing instance", []algorithm.Quantity{100, -100},
			[]algorithm.Quantity{10}},
		{"a negative request above the target", []algorithm.Quantity{100, -100},
			[]algorithm.Quantity{1000}},
		{"ready instances alone", []algorithm.Quantity{100, -100}, []algorithm.Quantity{10, 10}},
		{"no request above 0", []algorithm.Quantity{0, 0}, []algorithm.Quantity{10, 10}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := algorithm.Spec{MinReplicas: 1, MaxReplicas: 10, Settings: algorithm.DefaultSettings()}
			obs := algorithm.Observation{SpecReplicas: 4, StatusReplicas: 4}
			for _, request := range test.requests {
				obs.Instances = append(obs.Instances, algorithm.Instance{
					Started: start.Add(-time.Hour), ReadyTransition: start.Add(-time.Hour),
					Requests: []algorithm.Request{{Resource: "cpu", Value: request}},
				})
			}
			var reading algorithm.Reading
			for _, value := range test.samples {
				reading.PerInstance = append(reading.PerInstance,
					algorithm.Sample{Present: true, Value: value, Time: start, Window: time.Minute})
			}
			obs.Readings = []algorithm.Reading{reading}
			d, _ := algorithm.Decide(start, &spec, algorithm.State{}, &obs)
			if d.Metrics[0].Err == nil || d.Rescale {
				t.Errorf("got proposal %d, rescale %t, want an error", d.Metrics[0].Proposal, d.Rescale)
			}
		})
	}
}
