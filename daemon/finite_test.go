package daemon

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/daemon/api"
	"github.com/hpad/hpad/targets"
)

// startAtZero runs a workload that brought itself to 0 replicas, whose average is a division by 0.
func (w *world) startAtZero() {
	w.t.Helper()
	w.targets.Add("web", 1)
	w.targets.Add("other", 2)
	w.source.Value("q", 0)
	w.source.Value("other", 20)
	zero := strings.Replace(queueWorkload("web", "q", "scale_to_zero = true"), "min_replicas = 1", "min_replicas = 0", 1)
	w.write(strings.Replace(zero, "[[workload.metric]]", "[workload.behavior.scale_down]\nstabilization_window = \"0s\"\n[[workload.metric]]", 1),
		queueWorkload("other", "other"))
	w.start()
	pass(time.Minute)
	if n := w.targets.Get("web").Replicas(); n != 0 {
		w.t.Fatalf("the target stands at %d replicas, want 0", n)
	}
}

func TestAverageAtZeroReplicasHasNoUsageRatio(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.startAtZero()
		for name, value := range map[string]float64{"not a number": 0, "infinite": 50} {
			w.source.Value("q", value)
			// With one replica there would be a ratio again.
			w.targets.Get("web").FailSet(targets.Errorf(targets.Denied, "no"))
			pass(15 * time.Second)
			answer := w.ask("GET", "/api/v1/workloads", false)
			var list api.WorkloadList
			if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || len(list.Workloads) != 2 {
				t.Fatalf("%s: %d %q: %v", name, answer.Code, answer.Body, err)
			}
			m := list.Workloads[0].Metrics[0]
			if m.UsageRatio != nil || m.CurrentValue == nil || *m.CurrentValue != 0 {
				t.Errorf("%s: the metric is %+v, want the value 0 and no usage ratio", name, m)
			}
			text := w.ask("GET", "/metrics", false).Body.String()
			if strings.Contains(text, `hpad_workload_metric_usage_ratio{metric="queue",workload="web"}`) {
				t.Errorf("%s: there is a usage ratio", name)
			}
			if want := `hpad_workload_metric_value{metric="queue",workload="web"} 0`; !strings.Contains(text, want) {
				t.Errorf("%s: missing: %s", name, want)
			}
		}
	})
}

func TestAnswerThatCannotBeWrittenIsAProblemAndLoggedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.write()
		w.start()
		pass(time.Second)
		for range 3 {
			answer := httptest.NewRecorder()
			w.daemon.answer(answer, math.NaN())
			if answer.Code != 500 || answer.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%d %q, want 500 and a problem", answer.Code, answer.Body)
			}
		}
		if n := strings.Count(w.log.take(), "cannot answer a request"); n != 1 {
			t.Errorf("logged %d times, want once", n)
		}
	})
}

func TestReloadKeepsTheValuesOfMetricsThatDidNotChange(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		more := strings.Replace(queueWorkload("web", "q"), "max_replicas = 100", "max_replicas = 50", 1)
		for _, c := range []struct {
			text string
			kept bool
		}{{more, true}, {strings.Replace(more, "average_value = 10", "average_value = 11", 1), false}} {
			w.write(c.text)
			if err := w.reload(); err != nil {
				t.Fatal(err)
			}
			if m := w.workload("web").Metrics[0]; (m.CurrentValue != nil) != c.kept {
				t.Errorf("after the reload the metric is %+v; kept should be %t", m, c.kept)
			}
			text := w.ask("GET", "/metrics", false).Body.String()
			if strings.Contains(text, "hpad_workload_metric_value{") != c.kept {
				t.Errorf("the value of the metric should be kept: %t", c.kept)
			}
		}
	})
}
