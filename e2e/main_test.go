package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"
)

func TestMain(m *testing.M) {
	if os.Getenv(serviceVariable) != "" {
		serve()
		return
	}
	os.Exit(m.Run())
}

// period is hpad's sync period in these tests.
const period = 3 * time.Second

const mainFile = `
include = ["workloads.d/*.toml"]

[daemon]
sync_period = "3s"
listen = "127.0.0.1:9872"
socket = "%[1]s/hpad.sock"
state_dir = "%[1]s/state"

[sources.prometheus]
driver = "prometheus"
url = "http://127.0.0.1:9090"
timeout = "2s"

[targets.swarm]
driver = "docker-swarm"
host = "%[2]s"
`

const webFile = `
[[workload]]
name = "web"
target = { via = "swarm", service = "web" }
min_replicas = 1
max_replicas = 4

[[workload.metric]]
type = "resource"
name = "cpu"
average_utilization = 50
`

const jobsFile = `
[[workload]]
name = "jobs"
target = { via = "swarm", service = "jobs" }
min_replicas = 1
max_replicas = 6

[[workload.metric]]
type = "external"
name = "queue"
source = "prometheus"
query = 'sum by (broker) (e2e_queue_length)'
select = { broker = "broker" }
average_value = 10

[workload.behavior.scale_down]
stabilization_window = "12s"
`

func build(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "hpad")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../cmd/hpad")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func TestTheMainJob(t *testing.T) {
	w := newWorld(t)
	binary := build(t)
	w.create("web", 1)
	w.create("jobs", 1)
	w.write("hpad.toml", fmt.Sprintf(mainFile, w.dir, w.engine.Host()))
	w.write("workloads.d/web.toml", webFile)
	w.write("workloads.d/jobs.toml", jobsFile)
	w.within(30*time.Second, "both services run", func() bool {
		return len(w.containers("web")) == 1 && len(w.containers("jobs")) == 1
	})
	w.startHpad(binary)
	w.within(30*time.Second, "every metric has a value", func() bool {
		return w.condition("web", "ScalingActive").Status == "True" && w.condition("jobs", "ScalingActive").Status == "True"
	})

	// The order matters: each step begins where the one before it ended.
	steps := []struct {
		promise string
		run     func(*world)
	}{
		{"an idle service stays as it is", idleStays},
		{"CPU utilization from container stats scales up within 3 sync periods", scalesUpOnCPU},
		{"a Prometheus query with an average value scales up", scalesUpOnQuery},
		{"stabilization holds and then scales down", stabilizes},
		{"a dead Prometheus holds the replicas and says why", holdsWithoutPrometheus},
		{"a rolling update in progress is not disturbed", leavesRollingUpdateAlone},
		{"a reload of a broken file changes nothing", refusesBrokenFile},
		{"SIGTERM leaves the services as they are", stopsWithoutTouching},
	}
	for _, step := range steps {
		if !t.Run(step.promise, func(t *testing.T) {
			of := w.T
			defer func() { w.T = of }()
			w.T = t
			step.run(w)
		}) {
			t.FailNow()
		}
	}
}

func idleStays(w *world) {
	w.always(2*period, "one replica each", func() bool { return w.replicas("web") == 1 && w.replicas("jobs") == 1 })
}

func scalesUpOnCPU(w *world) {
	// 0.16 of the 0.2 cores reserved are 80 % where 50 % are wanted: ceil(1.6 × 1) = 2.
	w.post(w.containers("web")[0], "/cpu?milli=160")
	w.within(3*period, "web has 2 replicas", func() bool { return w.replicas("web") == 2 })
	reasons := strings.Join(w.workload("web").Explanation, "\n")
	if !strings.Contains(reasons, "cpu") {
		w.Errorf("the explanation does not name the metric:\n%s", reasons)
	}
	w.within(30*time.Second, "the second task runs", func() bool { return len(w.containers("web")) == 2 })
	w.post(w.containers("web")[0], "/cpu?milli=100")
	w.post(w.containers("web")[1], "/cpu?milli=100")
}

func scalesUpOnQuery(w *world) {
	w.post(w.broker, "/queue?length=45")
	// ceil(45 / 10) = 5; the default policies let 1 grow to 5 at once.
	w.within(4*period, "jobs has 5 replicas", func() bool { return w.replicas("jobs") == 5 })
	if got := w.series(`hpad_workload_desired_replicas{workload="jobs"}`); got != "5" {
		w.Errorf("hpad_workload_desired_replicas is %q", got)
	}
}

func stabilizes(w *world) {
	w.post(w.broker, "/queue?length=8")
	w.within(4*period, "the window holds", func() bool {
		return w.condition("jobs", "AbleToScale").Reason == "ScaleDownStabilized"
	})
	w.always(period, "jobs keeps its replicas", func() bool { return w.replicas("jobs") == 5 })
	w.within(20*time.Second, "jobs has 1 replica", func() bool { return w.replicas("jobs") == 1 })
}

func holdsWithoutPrometheus(w *world) {
	w.stopPrometheus()
	w.within(3*period, "the condition says why", func() bool {
		c := w.condition("jobs", "ScalingActive")
		return c.Status == "False" && c.Reason == "FailedGetExternalMetric" && strings.Contains(c.Message, "connection refused")
	})
	if got := w.series(`hpad_source_errors_total{kind="unavailable",source="prometheus"}`); got == "" || got == "0" {
		w.Errorf("hpad_source_errors_total of Prometheus is %q", got)
	}
	w.always(2*period, "jobs keeps its replicas", func() bool { return w.replicas("jobs") == 1 })
	w.startPrometheus()
	w.within(30*time.Second, "Prometheus answers", func() bool { return w.prometheusHas("e2e_queue_length") })
	w.within(2*period+time.Second, "the metric works again", func() bool {
		return w.condition("jobs", "ScalingActive").Status == "True"
	})
}

func (w *world) prometheusHas(metric string) bool {
	answer, err := w.engine.HTTPClient().Get("http://" + prometheus + "/api/v1/query?query=" + metric)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var b strings.Builder
	_ = answer.Write(&b)
	return strings.Contains(b.String(), metric)
}

func leavesRollingUpdateAlone(w *world) {
	w.post(w.broker, "/queue?length=30")
	w.within(4*period, "jobs has 3 replicas", func() bool { return w.replicas("jobs") == 3 })
	w.within(30*time.Second, "3 tasks run", func() bool { return len(w.containers("jobs")) == 3 })

	service := w.service("jobs")
	service.Spec.TaskTemplate.ContainerSpec.Env = append(service.Spec.TaskTemplate.ContainerSpec.Env, "RELEASE=2")
	if _, err := w.engine.Client().ServiceUpdate(w.Context(), service.ID, service.Version, service.Spec, swarm.ServiceUpdateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.post(w.broker, "/queue?length=60")
	blocked, begun := false, false
	// The swarm notes an update a moment after it was asked for. The first write after it takes the
	// note away.
	updating := func() bool {
		status := w.service("jobs").UpdateStatus
		if status == nil {
			return !begun
		}
		begun = true
		return status.State != swarm.UpdateStateCompleted
	}
	w.within(time.Minute, "the update completes", func() bool {
		going := updating()
		if going && w.replicas("jobs") != 3 && updating() {
			w.Fatalf("hpad wrote during the update")
		}
		blocked = blocked || w.condition("jobs", "TargetBlocked").Status == "True"
		return !going
	})
	if !blocked {
		w.Error("hpad did not say that the update holds it")
	}
	w.within(4*period, "jobs has 6 replicas after the update", func() bool { return w.replicas("jobs") == 6 })
}

func refusesBrokenFile(w *world) {
	before := w.workload("web").Since
	w.write("workloads.d/web.toml", strings.ReplaceAll(webFile, "max_replicas = 4", "max_replicas = -4\nmax_replica = 4"))
	w.signal(syscall.SIGHUP)
	w.within(10*time.Second, "the metric says so", func() bool { return w.series("hpad_config_last_reload_successful") == "0" })
	for _, want := range []string{"web.toml:6", "max_replicas", "did you mean"} {
		if !strings.Contains(w.log.String(), want) {
			w.Errorf("the log does not say %q", want)
		}
	}
	w.always(2*period, "the workloads run on", func() bool {
		web := w.workload("web")
		return web.MaxReplicas == 4 && web.Since.Equal(before) && w.replicas("jobs") == 6
	})
	w.write("workloads.d/web.toml", webFile)
	w.signal(syscall.SIGHUP)
	w.within(10*time.Second, "the mended file is taken", func() bool { return w.series("hpad_config_last_reload_successful") == "1" })
}

func stopsWithoutTouching(w *world) {
	web, jobs := w.replicas("web"), w.replicas("jobs")
	w.signal(syscall.SIGTERM)
	select {
	case <-w.hpadDone:
		if w.hpadErr != nil {
			w.Errorf("hpad ended with %v", w.hpadErr)
		}
	case <-time.After(20 * time.Second):
		w.Fatal("hpad does not end")
	}
	if w.replicas("web") != web || w.replicas("jobs") != jobs {
		w.Error("the services changed")
	}
}
