package scenario_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm/scenario"
)

// run replays one scenario and returns its results.
func run(t *testing.T, text string) []scenario.Result {
	t.Helper()
	for s, err := range scenario.Read(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		return scenario.Run(s).Steps
	}
	t.Fatal("no scenario")
	return nil
}

// load is a sample of the queue of [line].
func load(milli string) string { return `"samples":[{"values":[{"value_milli":` + milli + `}]}]` }

func TestResultHasTheFieldsOfAnExpectation(t *testing.T) {
	got, err := json.Marshal(run(t, line(`{"at_s":0,"spec_replicas":2,`+load("6000")+`}`))[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"spec_replicas":4,"rescaled":true,"rescale_reason":"external metric queue(nil) above target",` +
		`"desired_replicas":4,"current_replicas":2,"recommendation":6,"error":false,"action":"scale_up",` +
		`"error_label":"none","conditions":{"AbleToScale":["True","SucceededRescale"],` +
		`"ScalingActive":["True","ValidMetricFound"],"ScalingLimited":["True","ScaleUpLimit"]},` +
		`"metrics":[{"action":"scale_up","proposal":6,"average_value_milli":3000}],` +
		`"events":["Normal:SuccessfulRescale"]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryResultCarriesItsDecision(t *testing.T) {
	for i, result := range run(t, line(`{"at_s":0,"spec_replicas":2,`+load("2000")+`},{"at_s":15,`+load("6000")+`}`)) {
		if d := result.Decision; d.SpecReplicas != 2 || d.Desired != result.SpecReplicas {
			t.Errorf("step %d: decision from %d to %d, result %d", i, d.SpecReplicas, d.Desired, result.SpecReplicas)
		}
	}
}

func TestAFailedWriteLeavesTheTarget(t *testing.T) {
	tests := []struct {
		fault     string
		replicas  int32
		condition string
		event     string
	}{
		{"error", 2, "FailedUpdateScale", "Warning:FailedRescale"},
		{"conflict", 2, "FailedUpdateScale", "Warning:FailedRescale"},
		{"conflict_once", 4, "SucceededRescale", "Normal:SuccessfulRescale"},
	}
	for _, test := range tests {
		t.Run(test.fault, func(t *testing.T) {
			r := run(t, line(`{"at_s":0,"spec_replicas":2,`+load("6000")+
				`,"faults":{"set_target":"`+test.fault+`"}}`))[0]
			if r.SpecReplicas != test.replicas || r.Error != (test.replicas == 2) {
				t.Errorf("got %d replicas, error %t", r.SpecReplicas, r.Error)
			}
			if got := r.Conditions["AbleToScale"][1]; got != test.condition {
				t.Errorf("AbleToScale is %s, want %s", got, test.condition)
			}
			if diff := cmp.Diff([]string{test.event}, r.Events); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAStatusThatCannotBeSavedStaysAsItWas(t *testing.T) {
	steps := run(t, line(
		`{"at_s":0,"spec_replicas":2,`+load("2000")+`},`+
			`{"at_s":15,"faults":{"save_status":"error"}},`+
			`{"at_s":30,`+load("6000")+`,"faults":{"save_status":"error"}}`))
	if steps[1].Error {
		t.Error("a status that did not change was saved")
	}
	if r := steps[2]; !r.Error || !r.Rescaled || r.SpecReplicas != 4 || r.DesiredReplicas != 2 {
		t.Errorf("got error %t, rescaled %t, %d replicas, desired %d in the status",
			r.Error, r.Rescaled, r.SpecReplicas, r.DesiredReplicas)
	}
}

// After 301 s the size of the first step is forgotten; a restart makes the present size a new
// first recommendation.
func TestARestartForgetsRecommendations(t *testing.T) {
	for restart, want := range map[string]int32{"false": 2, "true": 4} {
		steps := run(t, line(`{"at_s":0,"spec_replicas":4,`+load("2000")+`},{"at_s":301,"restart":`+restart+`}`))
		if got := steps[1].SpecReplicas; got != want {
			t.Errorf("restart %s: %d replicas, want %d", restart, got, want)
		}
	}
}

func TestAChangedWorkloadKeepsTheSettingsOfTheDaemon(t *testing.T) {
	changed := `{"max_replicas":5,"tolerance":0,"metrics":[{"type":"external","name":"queue",` +
		`"target":{"type":"average_value","value":1000}}]}`
	steps := run(t, line(`{"at_s":0,"spec_replicas":4,`+load("4000")+`},`+
		`{"at_s":15,"workload":`+changed+`,`+load("4400")+`},{"at_s":30,`+load("9000")+`}`))
	if got := steps[1].SpecReplicas; got != 4 {
		t.Errorf("within the first workload's tolerance: %d replicas, want 4", got)
	}
	if got := steps[2].SpecReplicas; got != 5 {
		t.Errorf("above the new maximum: %d replicas, want 5", got)
	}
}

func TestDroppedTolerancesDoNotCount(t *testing.T) {
	for gate, want := range map[string]int32{"true": 2, "false": 3} {
		text := strings.Replace(line(`{"at_s":0,"spec_replicas":2,`+load("2500")+`}`), `"max_replicas":10`,
			`"max_replicas":10,"configurable_tolerance":`+gate+`,"behavior":{"scale_up":{"tolerance":"0.3"}}`, 1)
		if got := run(t, text)[0].SpecReplicas; got != want {
			t.Errorf("configurable tolerance %s: %d replicas, want %d", gate, got, want)
		}
	}
}

// One instance uses 250m: the utilization tells what it is taken to request.
func TestRequestsOfAnInstance(t *testing.T) {
	parts := `"containers":[{"name":"setup","kind":"init","requests":{"cpu":9000}},` +
		`{"name":"app","requests":{"cpu":300}},{"name":"proxy","kind":"sidecar","requests":{"cpu":200}}]`
	tests := []struct {
		name, instance string
		utilization    int32
	}{
		{"defaults", `{"id":"a"}`, 25},
		{"its own", `{"id":"a","requests":{"cpu":500}}`, 50},
		{"containers that run", `{"id":"a",` + parts + `}`, 50},
		{"the whole", `{"id":"a","instance_requests":{"cpu":2500},` + parts + `}`, 10},
		{"the peak of containers", `{"id":"a","instance_requests":{"memory":1},` + parts + `}`, 2},
		{"nothing declared that can be", `{"id":"a","instance_requests":{"disk":1},` + parts + `}`, 50},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, `{"workload":{"max_replicas":9,"default_requests":{"cpu":1000},"metrics":[{"type":"resource",`+
				`"name":"cpu","target":{"type":"utilization","value":50}}]},"steps":[{"at_s":0,"spec_replicas":1,`+
				`"instances":[{"id":"b","phase":"failed"},`+test.instance[:len(test.instance)-1]+`,"started_s":-900}],`+
				`"samples":[{"values":[{"instance":"a","value_milli":250}]}]}]}`)[0]
			got := r.Metrics[0].AverageUtilization
			if got == nil || *got != test.utilization {
				t.Errorf("got %v, want %d %%", r.Metrics[0], test.utilization)
			}
		})
	}
}

func TestAnInstanceWithEmptyRequestsHasNone(t *testing.T) {
	r := run(t, `{"workload":{"max_replicas":9,"default_requests":{"cpu":1000},"metrics":[{"type":"resource",`+
		`"name":"cpu","target":{"type":"utilization","value":50}}]},"steps":[{"at_s":0,"spec_replicas":1,`+
		`"instances":[{"id":"a","requests":{},"started_s":-900}],`+
		`"samples":[{"values":[{"instance":"a","value_milli":250}]}]}]}`)[0]
	if r.Metrics[0].Error != "internal" || !r.Error {
		t.Errorf("got %+v, want an error", r.Metrics[0])
	}
}
