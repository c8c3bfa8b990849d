package algorithm_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
)

func valid() algorithm.Spec {
	return algorithm.Spec{MinReplicas: 1, MaxReplicas: 10, Settings: algorithm.DefaultSettings()}
}

func withMetric(m algorithm.Metric) algorithm.Spec {
	s := valid()
	s.Metrics = []algorithm.Metric{m}
	return s
}

func withRules(r algorithm.Rules) algorithm.Spec {
	s := valid()
	s.Behavior = &algorithm.Behavior{ScaleDown: r}
	return s
}

func withPolicy(kind algorithm.PolicyType, value int32, period time.Duration) algorithm.Spec {
	return withRules(algorithm.Rules{Policies: []algorithm.Policy{{Type: kind, Value: value, Period: period}}})
}

func level(kind algorithm.TargetKind, value int64) algorithm.TargetValue {
	return algorithm.TargetValue{Kind: kind, Value: value}
}

// Every rule of docs/semantics.md, section 2.3, with the key that is named and what is said.
func TestEveryMistakeIsNamed(t *testing.T) {
	const down = "behavior.scale_down"
	tests := []struct {
		name string
		spec algorithm.Spec
		want []string
	}{
		{"the least there can be", valid(), nil},
		{
			"replicas below zero",
			algorithm.Spec{MinReplicas: -1, MaxReplicas: 3},
			[]string{`min_replicas: must be >= 0, is -1`},
		},
		{
			"zero without leave",
			algorithm.Spec{MinReplicas: 0, MaxReplicas: 3},
			[]string{`min_replicas: must be >= 1 unless scaling to zero is enabled, is 0`},
		},
		{
			"zero without anything that could bring it back",
			algorithm.Spec{MinReplicas: 0, MaxReplicas: 3, ScaleToZero: true},
			[]string{`min_replicas: must be >= 1 without a metric of type object or external, is 0`},
		},
		{
			"zero with leave and an external metric",
			algorithm.Spec{MinReplicas: 0, MaxReplicas: 3, ScaleToZero: true, Metrics: []algorithm.Metric{
				{Type: algorithm.TypeExternal, Name: "queue", Target: level(algorithm.KindValue, 1)},
			}},
			nil,
		},
		{
			"no maximum",
			algorithm.Spec{MinReplicas: 1},
			[]string{`max_replicas: must be >= 1, is 0`},
		},
		{
			"bounds the wrong way around",
			algorithm.Spec{MinReplicas: 5, MaxReplicas: 4},
			[]string{`max_replicas: must be >= min_replicas (5), is 4`},
		},
		{
			"a metric type that is none",
			withMetric(algorithm.Metric{Type: "pods", Name: "x"}),
			[]string{`metric[0].type: must be one of resource, container_resource, instances, object, external, is "pods"`},
		},
		{
			"a metric without name",
			withMetric(algorithm.Metric{Type: algorithm.TypeResource, Target: level(algorithm.KindAverageUtilization, 1)}),
			[]string{`metric[0].name: must not be empty`},
		},
		{
			"a container metric without container",
			withMetric(algorithm.Metric{
				Type: algorithm.TypeContainerResource, Name: "cpu", Target: level(algorithm.KindAverageValue, 1),
			}),
			[]string{`metric[0].container: must not be empty for a metric of type container_resource`},
		},
		{
			"a resource as a whole",
			withMetric(algorithm.Metric{Type: algorithm.TypeResource, Name: "cpu", Target: level(algorithm.KindValue, 1)}),
			[]string{`metric[0]: a metric of type resource needs average_utilization or average_value`},
		},
		{
			"instances as a whole",
			withMetric(algorithm.Metric{Type: algorithm.TypeInstances, Name: "rps", Target: level(algorithm.KindValue, 1)}),
			[]string{`metric[0]: a metric of type instances needs average_value`},
		},
		{
			"a percentage of something external",
			withMetric(algorithm.Metric{
				Type: algorithm.TypeExternal, Name: "queue", Target: level(algorithm.KindAverageUtilization, 1),
			}),
			[]string{`metric[0]: a metric of type external needs average_value or value`},
		},
		{
			"no target value",
			withMetric(algorithm.Metric{Type: algorithm.TypeObject, Name: "rps"}),
			[]string{`metric[0]: a metric of type object needs average_value or value`},
		},
		{
			"a percentage of zero",
			withMetric(algorithm.Metric{
				Type: algorithm.TypeResource, Name: "cpu", Target: level(algorithm.KindAverageUtilization, 0),
			}),
			[]string{`metric[0].average_utilization: must be >= 1 (percent), is 0`},
		},
		{
			"a percentage that is too large",
			withMetric(algorithm.Metric{
				Type: algorithm.TypeResource, Name: "cpu", Target: level(algorithm.KindAverageUtilization, math.MaxInt32+1),
			}),
			[]string{`metric[0].average_utilization: must be <= 2147483647 (percent), is 2147483648`},
		},
		{
			"an average value of zero",
			withMetric(algorithm.Metric{Type: algorithm.TypeInstances, Name: "rps", Target: level(algorithm.KindAverageValue, 0)}),
			[]string{`metric[0].average_value: must be > 0, is 0`},
		},
		{
			"a negative value",
			withMetric(algorithm.Metric{Type: algorithm.TypeExternal, Name: "queue", Target: level(algorithm.KindValue, -500)}),
			[]string{`metric[0].value: must be > 0, is -500m`},
		},
		{
			"a negative window",
			withRules(algorithm.Rules{StabilizationWindow: new(-time.Second)}),
			[]string{down + `.stabilization_window: must be between 0s and 1h0m0s, is -1s`},
		},
		{
			"a window of more than an hour",
			withRules(algorithm.Rules{StabilizationWindow: new(time.Hour + time.Second)}),
			[]string{down + `.stabilization_window: must be between 0s and 1h0m0s, is 1h0m1s`},
		},
		{"a window of an hour", withRules(algorithm.Rules{StabilizationWindow: new(time.Hour)}), nil},
		{
			"a window of parts of a second",
			withRules(algorithm.Rules{StabilizationWindow: new(1500 * time.Millisecond)}),
			[]string{down + `.stabilization_window: must be whole seconds, is 1.5s`},
		},
		{
			"a select policy that is none",
			withRules(algorithm.Rules{SelectPolicy: "Max"}),
			[]string{down + `.select_policy: must be one of max, min, disabled, is "Max"`},
		},
		{
			"a negative tolerance",
			withRules(algorithm.Rules{Tolerance: new(-0.1)}),
			[]string{down + `.tolerance: must be >= 0, is -0.1`},
		},
		{
			"a tolerance that is no number",
			withRules(algorithm.Rules{Tolerance: new(math.NaN())}),
			[]string{down + `.tolerance: must be >= 0, is NaN`},
		},
		{"a tolerance without limit", withRules(algorithm.Rules{Tolerance: new(1e9)}), nil},
		{
			"no policies, though disabled",
			withRules(algorithm.Rules{SelectPolicy: algorithm.SelectDisabled, Policies: []algorithm.Policy{}}),
			[]string{down + `.policies: must hold at least one policy`},
		},
		{
			"a policy of nothing",
			withPolicy("", 0, 0),
			[]string{
				down + `.policies[0].type: must be instances or percent, is ""`,
				down + `.policies[0].value: must be > 0, is 0`,
				down + `.policies[0].period: must be between 1s and 30m0s, is 0s`,
			},
		},
		{"a policy without limit, for half an hour", withPolicy("percent", math.MaxInt32, 30*time.Minute), nil},
		{
			"a period that is too long",
			withPolicy("instances", 1, 31*time.Minute),
			[]string{down + `.policies[0].period: must be between 1s and 30m0s, is 31m0s`},
		},
		{
			"a period of parts of a second",
			withPolicy("instances", 1, 1500*time.Millisecond),
			[]string{down + `.policies[0].period: must be whole seconds, is 1.5s`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, problem := range test.spec.Validate() {
				got = append(got, problem.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// All mistakes are told at once, in the order of the fields.
func TestAllMistakesAreToldAtOnce(t *testing.T) {
	spec := algorithm.Spec{
		MinReplicas: 5, MaxReplicas: 4,
		Metrics: []algorithm.Metric{
			{Type: algorithm.TypeResource, Name: "cpu", Target: level(algorithm.KindAverageUtilization, 50)},
			{Type: "cpu"},
		},
		Behavior: &algorithm.Behavior{
			ScaleUp:   algorithm.Rules{SelectPolicy: "most"},
			ScaleDown: algorithm.Rules{Policies: []algorithm.Policy{}},
		},
	}
	var keys []string
	for _, problem := range spec.Validate() {
		keys = append(keys, problem.Key)
	}
	want := []string{
		"max_replicas", "metric[1].type", "behavior.scale_up.select_policy", "behavior.scale_down.policies",
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What is filled in is valid, so that it does not matter when a spec is judged.
func TestDefaultsAreValid(t *testing.T) {
	spec := valid()
	spec.Behavior = &algorithm.Behavior{}
	if problems := spec.WithDefaults().Validate(); problems != nil {
		t.Errorf("%v", problems)
	}
}
