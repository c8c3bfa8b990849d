package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

func TestMetricsPassTheLinter(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.startMixed()
		problems, err := testutil.GatherAndLint(w.daemon.metrics.registry)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	})
}

// startMixed runs workloads in many states, so that every metric has a series.
func (w *world) startMixed() {
	w.t.Helper()
	w.source.Value("q", 80)
	w.source.Fail("bad", sources.Errorf(sources.Stale, "too old"))
	w.targets.Add("fine", 2)
	w.targets.Add("failing", 2)
	w.targets.Add("blocked", 2).Block(targets.Block{Up: true, Reason: "Rollout", Message: "a rollout"})
	w.targets.Add("watched", 2)
	w.targets.Add("denied", 2).FailSet(targets.Errorf(targets.Denied, "no"))
	w.targets.Add("zero", 3)
	w.write(queueWorkload("fine", "q"), queueWorkload("failing", "bad"), queueWorkload("blocked", "q"),
		queueWorkload("watched", "q", "dry_run = true"), queueWorkload("denied", "q"), queueWorkload("unreadable", "q"),
		strings.Replace(queueWorkload("zero", "q", "scale_to_zero = true"), "min_replicas = 1", "min_replicas = 0", 1))
	w.start()
	pass(time.Minute)
}

func TestSeriesPerWorkloadAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.startMixed()
		families, err := w.daemon.metrics.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		own, perMetric := map[string]int{}, map[string]int{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				labels := map[string]string{}
				for _, l := range m.GetLabel() {
					labels[l.GetName()] = l.GetValue()
				}
				switch name := labels["workload"]; {
				case name == "":
				case labels["metric"] != "":
					perMetric[name]++
				default:
					own[name]++
				}
			}
		}
		if len(own) != 7 {
			t.Errorf("%d workloads have series, want 7", len(own))
		}
		for name, n := range own {
			if n > 16 || perMetric[name] > 4 {
				t.Errorf("workload %q has %d series and %d of its metric, want at most 16 and 4", name, n, perMetric[name])
			}
		}
	})
}

func TestMetricsSayWhatHappened(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.startMixed()
		text := w.ask("GET", "/metrics", false).Body.String()
		for _, line := range []string{
			`hpad_workload_scale_events_total{direction="up",workload="fine"} 2`,
			`hpad_workload_metric_value{metric="queue",workload="fine"} 10`,
			`hpad_workload_metric_target_value{metric="queue",workload="fine"} 10`,
			`hpad_workload_metric_recommended_replicas{metric="queue",workload="fine"} 8`,
			`hpad_workload_condition{condition="ScalingActive",reason="FailedGetExternalMetric",workload="failing"} 0`,
			`hpad_workload_condition{condition="TargetBlocked",reason="Rollout",workload="blocked"} 1`,
			`hpad_workload_condition{condition="EvaluationFailed",reason="TargetDenied",workload="denied"} 1`,
			`hpad_workload_condition{condition="EvaluationFailed",reason="TargetNotFound",workload="unreadable"} 1`,
			`hpad_evaluation_errors_total{kind="metric_stale"}`,
			`hpad_evaluation_errors_total{kind="write_denied"}`,
			`hpad_target_errors_total{class="not_found",target="fake"}`,
			`hpad_source_errors_total{kind="stale",source="fake"}`,
			`hpad_source_request_duration_seconds_count{operation="query",source="fake"}`,
			`hpad_config_last_reload_successful 1`,
		} {
			if !strings.Contains(text, line) {
				t.Errorf("missing: %s", line)
			}
		}
	})
}

func TestRemovedWorkloadsSourcesAndTargetsHaveNoSeries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.write("[sources.extra]\ndriver = \"fake\"\n", strings.Replace(queueWorkload("web", "q"), `source = "fake"`, `source = "extra"`, 1))
		w.start()
		pass(2 * time.Second)
		if text := w.ask("GET", "/metrics", false).Body.String(); !strings.Contains(text, `source="extra"`) {
			t.Fatal("the source has no series while it is in use")
		}
		w.write()
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		text := w.ask("GET", "/metrics", false).Body.String()
		for _, gone := range []string{`source="extra"`, `workload="web"`} {
			if strings.Contains(text, gone) {
				t.Errorf("series with %s are still there", gone)
			}
		}
	})
}
