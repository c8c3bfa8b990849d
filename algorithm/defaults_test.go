package algorithm_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hpad/hpad/algorithm"
)

var exported = cmpopts.IgnoreUnexported(algorithm.Spec{}, algorithm.Metric{})

func TestNoMetricMeansCPUAtEightyPercent(t *testing.T) {
	want := []algorithm.Metric{{
		Type: algorithm.TypeResource, Name: "cpu", Target: level(algorithm.KindAverageUtilization, 80),
	}}
	if diff := cmp.Diff(want, valid().WithDefaults().Metrics, exported); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestDefaultSettingsAreTheHPAs(t *testing.T) {
	want := algorithm.Settings{
		Tolerance:               0.1,
		DownscaleStabilization:  300 * time.Second,
		CPUInitializationPeriod: 300 * time.Second,
		InitialReadinessDelay:   30 * time.Second,
	}
	if diff := cmp.Diff(want, algorithm.DefaultSettings()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Each field of a behavior is filled in on its own; what is written stays.
func TestBehaviorIsFilledInFieldByField(t *testing.T) {
	var (
		four     = algorithm.Policy{Type: algorithm.PolicyInstances, Value: 4, Period: 15 * time.Second}
		doubling = algorithm.Policy{Type: algorithm.PolicyPercent, Value: 100, Period: 15 * time.Second}
		own      = algorithm.Policy{Type: algorithm.PolicyInstances, Value: 1, Period: time.Minute}
		up       = algorithm.Rules{
			StabilizationWindow: new(time.Duration), SelectPolicy: algorithm.SelectMax,
			Policies: []algorithm.Policy{four, doubling},
		}
		down = algorithm.Rules{
			StabilizationWindow: new(5 * time.Minute), SelectPolicy: algorithm.SelectMax,
			Policies: []algorithm.Policy{doubling},
		}
	)
	tests := []struct {
		name        string
		given, want algorithm.Behavior
	}{
		{"empty", algorithm.Behavior{}, algorithm.Behavior{ScaleUp: up, ScaleDown: down}},
		{
			"scaling down disabled",
			algorithm.Behavior{ScaleDown: algorithm.Rules{SelectPolicy: algorithm.SelectDisabled}},
			algorithm.Behavior{ScaleUp: up, ScaleDown: algorithm.Rules{
				StabilizationWindow: down.StabilizationWindow, SelectPolicy: algorithm.SelectDisabled,
				Policies: down.Policies,
			}},
		},
		{
			"policies of its own",
			algorithm.Behavior{ScaleUp: algorithm.Rules{Policies: []algorithm.Policy{own}}},
			algorithm.Behavior{ScaleDown: down, ScaleUp: algorithm.Rules{
				StabilizationWindow: up.StabilizationWindow, SelectPolicy: algorithm.SelectMax,
				Policies: []algorithm.Policy{own},
			}},
		},
		{
			"no policies stays wrong",
			algorithm.Behavior{ScaleUp: algorithm.Rules{Policies: []algorithm.Policy{}}},
			algorithm.Behavior{ScaleDown: down, ScaleUp: algorithm.Rules{
				StabilizationWindow: up.StabilizationWindow, SelectPolicy: algorithm.SelectMax,
				Policies: []algorithm.Policy{},
			}},
		},
		{
			"a window of 0 and a tolerance",
			algorithm.Behavior{ScaleDown: algorithm.Rules{
				StabilizationWindow: new(time.Duration), Tolerance: new(0.3),
			}},
			algorithm.Behavior{ScaleUp: up, ScaleDown: algorithm.Rules{
				StabilizationWindow: new(time.Duration), SelectPolicy: algorithm.SelectMax,
				Policies: down.Policies, Tolerance: new(0.3),
			}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := valid()
			spec.Behavior = &test.given
			if diff := cmp.Diff(&test.want, spec.WithDefaults().Behavior, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Without behavior none is made up: it follows other rules (section 13).
func TestNoBehaviorStaysNone(t *testing.T) {
	if b := valid().WithDefaults().Behavior; b != nil {
		t.Errorf("got %+v", b)
	}
}

// The window taken from the daemon's setting has whole seconds, as the HPA's.
func TestDefaultWindowHasWholeSeconds(t *testing.T) {
	spec := valid()
	spec.Settings.DownscaleStabilization = 90*time.Second + 700*time.Millisecond
	spec.Behavior = &algorithm.Behavior{}
	if w := *spec.WithDefaults().Behavior.ScaleDown.StabilizationWindow; w != 90*time.Second {
		t.Errorf("got %v", w)
	}
}

// A Spec may be shared and completed again: what is given is not changed, and once is enough.
func TestFillingInChangesNothingThatIsGiven(t *testing.T) {
	spec := valid()
	spec.Behavior = &algorithm.Behavior{}
	spec.Metrics = []algorithm.Metric{{Type: algorithm.TypeExternal, Name: "queue", Target: level(algorithm.KindValue, 1)}}
	once := spec.WithDefaults()
	if spec.Behavior.ScaleUp.Policies != nil || spec.Behavior.ScaleDown.StabilizationWindow != nil {
		t.Errorf("the behavior that was given is now %+v", spec.Behavior)
	}
	if diff := cmp.Diff(once, once.WithDefaults(), unexported); diff != "" {
		t.Errorf("filled in twice: -once +twice\n%s", diff)
	}
}
