package algorithm_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
)

func queue(name string) algorithm.Metric {
	return algorithm.Metric{Type: algorithm.TypeExternal, Name: name, Target: level(algorithm.KindAverageValue, 10_000)}
}

// The events are the HPA's, in its order and with its texts (docs/semantics.md, section 19).
func TestEventsAreThoseOfTheHPA(t *testing.T) {
	none := errors.New("no such queue")
	seen := func(values ...algorithm.Quantity) (all []algorithm.Reading) {
		for _, v := range values {
			if v < 0 {
				all = append(all, algorithm.Reading{Err: none})
				continue
			}
			all = append(all, algorithm.Reading{Values: []algorithm.Quantity{v}})
		}
		return all
	}
	tests := []struct {
		name    string
		obs     algorithm.Observation
		refusal error
		want    []algorithm.Event
	}{
		{"nothing to tell", algorithm.Observation{SpecReplicas: 4, Readings: seen(40_000, 0)}, nil, nil},
		{
			"a change", algorithm.Observation{SpecReplicas: 4, Readings: seen(60_000, 0)}, nil,
			[]algorithm.Event{
				{Reason: "SuccessfulRescale", Message: "New size: 6; reason: external metric a(nil) above target"},
			},
		},
		{
			"a change that is refused", algorithm.Observation{SpecReplicas: 4, Readings: seen(60_000, 0)},
			errors.New("out of date"),
			[]algorithm.Event{{
				Warning: true, Reason: "FailedRescale",
				Message: "New size: 6; reason: external metric a(nil) above target; error: out of date",
			}},
		},
		{
			"above max", algorithm.Observation{SpecReplicas: 30}, nil,
			[]algorithm.Event{{
				Reason:  "SuccessfulRescale",
				Message: "New size: 20; reason: Current number of replicas above Spec.MaxReplicas",
			}},
		},
		{
			"a change, though a metric failed",
			algorithm.Observation{SpecReplicas: 4, Readings: seen(60_000, -1)}, nil,
			[]algorithm.Event{
				{Warning: true, Reason: "FailedGetExternalMetric", Message: `cannot use metric "b": no such queue`},
				{Reason: "SuccessfulRescale", Message: "New size: 6; reason: external metric a(nil) above target"},
			},
		},
		{
			"no count", algorithm.Observation{SpecReplicas: 4, Readings: seen(-1, -1)}, nil,
			[]algorithm.Event{
				{Warning: true, Reason: "FailedGetExternalMetric", Message: `cannot use metric "a": no such queue`},
				{Warning: true, Reason: "FailedGetExternalMetric", Message: `cannot use metric "b": no such queue`},
				{
					Warning: true, Reason: "FailedComputeMetricsReplicas",
					Message: `invalid metrics (2 invalid out of 2), first error is: cannot use metric "a": no such queue`,
				},
			},
		},
		{
			"an unreadable target", algorithm.Observation{TargetErr: errors.New("connection refused")}, nil,
			[]algorithm.Event{{Warning: true, Reason: "FailedGetScale", Message: "connection refused"}},
		},
		{
			"no selector", algorithm.Observation{SpecReplicas: 4, Selector: algorithm.SelectorMissing}, nil,
			[]algorithm.Event{
				{Warning: true, Reason: "SelectorRequired", Message: "selector is required"},
				{Warning: true, Reason: "FailedComputeMetricsReplicas", Message: "selector is required"},
			},
		},
		{
			"a broken selector does not matter where no metric is asked",
			algorithm.Observation{SpecReplicas: 0, Selector: algorithm.SelectorInvalid}, nil, nil,
		},
	}
	spec := valid()
	spec.MaxReplicas = 20
	spec.Metrics = []algorithm.Metric{queue("a"), queue("b")}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.obs.StatusReplicas = test.obs.SpecReplicas
			d, _ := algorithm.Decide(epoch, &spec, algorithm.State{}, &test.obs)
			if diff := cmp.Diff(test.want, d.Events(test.refusal)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A dry run tells what was seen, and of no change.
func TestACopyWithoutRescaleHasNoEventOfAChange(t *testing.T) {
	spec := valid()
	d, _ := algorithm.Decide(epoch, &spec, algorithm.State{}, &algorithm.Observation{SpecReplicas: 30})
	d.Rescale = false
	if events := d.Events(nil); events != nil {
		t.Errorf("%+v", events)
	}
}
