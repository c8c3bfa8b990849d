package algorithm_test

import (
	"fmt"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// A queue of 80 messages, 10 for each replica: one evaluation takes the time, what the operator
// asked for, what is remembered and what was seen.
func ExampleDecide() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	spec := &algorithm.Spec{
		MinReplicas: 1, MaxReplicas: 20, Settings: algorithm.DefaultSettings(),
		Metrics: []algorithm.Metric{{
			Type: algorithm.TypeExternal, Name: "queue",
			Target: algorithm.TargetValue{Kind: algorithm.KindAverageValue, Value: 10_000},
		}},
	}
	seen := &algorithm.Observation{
		SpecReplicas: 5, StatusReplicas: 5,
		Readings: []algorithm.Reading{{Values: []algorithm.Quantity{80_000}}},
	}

	decision, state := algorithm.Decide(now, spec, algorithm.State{}, seen)
	if decision.Rescale { // here the caller writes decision.Desired to the target
		state = algorithm.Applied(now, spec, &decision, state, nil)
	}

	for _, line := range decision.Explain(spec) {
		fmt.Println(line)
	}
	fmt.Println(state.Status.Conditions[algorithm.AbleToScale].Reason)
	// Output:
	// queue: 16 per replica, target value 10: usage ratio 1.60, asks for 8
	// result: 5 → 8, external metric queue(nil) above target
	// SucceededRescale
}
