package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/daemon/api"
)

func TestPageShowsTheWorkloads(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.startMixed()
		answer := w.ask("GET", "/", false)
		text := answer.Body.String()
		for _, want := range []string{
			`<a href="/api/v1/workloads/fine">fine</a>`, `<td class="t">fake:fine</td>`, `queue 10 / 10`, `FailedGetExternalMetric`,
			`<small>dry run</small>`, `class="state bad"`, `class="state waiting"`, `<meta http-equiv="refresh" content="15">`,
			`href="/metrics"`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("missing: %s", want)
			}
		}
		if strings.Contains(text, "<script") {
			t.Error("the page has a script")
		}
		if policy := answer.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("the policy is %q", policy)
		}
		if t.Failed() {
			t.Log(text)
		}
	})
}

func TestPageShowsNoCountThatIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		w                 api.Workload
		replicas, desired string
	}{
		{api.Workload{}, "-", "-"},
		{api.Workload{SpecReplicas: 1, StatusReplicas: 1}, "1", "-"},
		{api.Workload{LastSuccess: time.Now()}, "0", "0"},
	} {
		if row := rowOf(&c.w, time.Now()); row.Replicas != c.replicas || row.Desired != c.desired {
			t.Errorf("%+v: %s replicas, %s desired, want %s and %s", c.w, row.Replicas, row.Desired, c.replicas, c.desired)
		}
	}
}

func TestPageWorksWithoutWorkloads(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.write()
		w.start()
		pass(time.Second)
		if text := w.ask("GET", "/", false).Body.String(); !strings.Contains(text, "No workload is configured.") {
			t.Errorf("the page is %s", text)
		}
	})
}

func TestPageEscapesWhatItIsTold(t *testing.T) {
	hostile := `"><script>alert(1)</script>`
	w := api.Workload{
		Name: hostile, Target: hostile, Metrics: []api.Metric{{Name: hostile}},
		Conditions: []api.Condition{{Type: "EvaluationFailed", Status: "True", Reason: hostile, Message: hostile}},
	}
	var text strings.Builder
	p := page{Version: hostile, Workloads: []pageRow{rowOf(&w, time.Now())}}
	if err := pageTemplate.Execute(&text, p); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "<script") || strings.Contains(text.String(), `href="/api/v1/workloads/">`) {
		t.Errorf("the page is\n%s", text.String())
	}
}

func TestPageShowsTheWorstState(t *testing.T) {
	failed := api.Condition{Type: "EvaluationFailed", Status: "True", Reason: "TargetDenied"}
	blocked := api.Condition{Type: "TargetBlocked", Status: "True", Reason: "Rollout"}
	limited := api.Condition{Type: "ScalingLimited", Status: "True", Reason: "TooManyReplicas"}
	able := api.Condition{Type: "AbleToScale", Status: "True", Reason: "ReadyForNewScale"}
	off := api.Condition{Type: "ScalingActive", Status: "False", Reason: "ScalingDisabled"}
	for _, c := range []struct {
		w             api.Workload
		state, reason string
	}{
		{api.Workload{}, "waiting", "NotEvaluated"},
		{api.Workload{Conditions: []api.Condition{able}}, "good", "ReadyForNewScale"},
		{api.Workload{Conditions: []api.Condition{able, limited}}, "waiting", "TooManyReplicas"},
		{api.Workload{Conditions: []api.Condition{able, limited, blocked}}, "waiting", "Rollout"},
		{api.Workload{Conditions: []api.Condition{able, off}, Disabled: true}, "off", "ScalingDisabled"},
		{api.Workload{Conditions: []api.Condition{able, limited, blocked, failed}}, "bad", "TargetDenied"},
	} {
		if state, reason, _ := stateOf(&c.w); state != c.state || reason != c.reason {
			t.Errorf("%+v is %s %s, want %s %s", c.w, state, reason, c.state, c.reason)
		}
	}
}

func TestAmountsAreShownInTheirUnit(t *testing.T) {
	for _, c := range []struct {
		m    api.Metric
		v    float64
		want string
	}{
		{api.Metric{Name: "cpu", TargetKind: "average_utilization"}, 60, "60 %"},
		{api.Metric{Name: "memory", TargetKind: "average_value"}, 1.5 * (1 << 30), "1.5 GiB"},
		{api.Metric{Name: "memory", TargetKind: "average_value"}, 12, "12 B"},
		{api.Metric{Name: "queue", TargetKind: "value"}, 0.25, "0.25"},
	} {
		if got := amountText(&c.m, c.v); got != c.want {
			t.Errorf("%s %v is %q, want %q", c.m.Name, c.v, got, c.want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 59 * time.Second: "59 s", 90 * time.Second: "1 min", 47 * time.Hour: "47 h", 50 * time.Hour: "2 d",
	} {
		if got := short(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
