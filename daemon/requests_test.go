package daemon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// measuredWorkload is a workload with a resource metric, of a driver "measured".
func (w *world) measuredWorkload(knows bool, keys, metric string) string {
	driver := w.targets.Driver()
	driver.Name, driver.Resource, driver.KnowsRequests = "measured", targets.ResourceSource{Driver: "resources"}, knows
	w.moreTargets = []targets.Driver{driver}
	w.moreSources = []sources.Driver{onlyResources()}
	return "[[workload]]\nname = \"a\"\ntarget = { via = \"measured\", name = \"a\" }\nmax_replicas = 3\n" + keys + "\n" + metric
}

func TestUtilizationNeedsRequests(t *testing.T) {
	cpu := "[[workload.metric]]\ntype = \"resource\"\nname = \"cpu\"\naverage_utilization = 60\n"
	memory := strings.Replace(cpu, "cpu", "memory", 1)
	amount := "[[workload.metric]]\ntype = \"resource\"\nname = \"cpu\"\naverage_value = 1\n"
	for _, c := range []struct {
		name         string
		knows        bool
		keys, metric string
		want         []string
	}{
		{"known by the driver", true, "", cpu, nil},
		{"configured", false, `requests = { cpu = "500m" }`, cpu, nil},
		{"no utilization", false, "", amount, nil},
		{"missing", false, "", cpu, []string{`set requests = { cpu = "500m" }`}},
		{"missing, default metric", false, "", "", []string{`a utilization of 80 % (the default is cpu at 80 %) needs what an instance requests of cpu`}},
		{"one of two missing", false, `requests = { cpu = 1 }`, cpu + memory, []string{`set requests = { memory = "512Mi" }`}},
		{"both missing", false, "", cpu + memory, []string{"cpu", "memory"}},
	} {
		w := newWorld(t)
		w.write(w.measuredWorkload(c.knows, c.keys, c.metric))
		got := w.problems()
		if len(got) != len(c.want) {
			t.Errorf("%s: found %q, want %d problems", c.name, got, len(c.want))
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], `workload "a": requests: `) || !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%s: found %q, want %q", c.name, got[i], c.want[i])
			}
		}
	}
}

func TestLiveFindsInstancesThatRequestNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("a", 1)
		fake.Request(algorithm.Request{Resource: "memory", Value: 1000})
		fake.Change(2)
		w.write(w.measuredWorkload(true, "", ""))
		cfg, problems := w.load()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		set, problems := Build(cfg, w.drivers(), quietEnvironment())
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		defer set.Close()
		want := `workload "a": metric[0]: 2 of 2 instances request nothing of "cpu": set requests in the target or in the workload`
		if got := set.Live(t.Context()); !slices.Contains(got, want) {
			t.Errorf("Live finds %q, want %q", got, want)
		}
	})
}

// runWorkload is a workload of which hpad itself runs the target.
func (w *world) runWorkload(keys string, next func() *runTarget) string {
	w.moreTargets = []targets.Driver{{Name: "run", Open: openEach(func() targets.Target { return next() })}}
	return strings.Replace(queueWorkload("web", "q", keys), `via = "fake"`, `via = "run"`, 1)
}

func TestTargetThatNothingWouldStartIsRefused(t *testing.T) {
	w := newWorld(t)
	target := &runTarget{Target: w.targets.Add("web", 0).Target(), initial: -1}
	text := w.runWorkload("", func() *runTarget { return target })
	w.write(text)
	if got := w.problems(); len(got) != 1 || !strings.Contains(got[0], `workload "web": target.replicas: must be >= 1, is 0`) {
		t.Errorf("found %q", got)
	}
	w.write(strings.Replace(text, "min_replicas = 1", "min_replicas = 0\nscale_to_zero = true", 1))
	if got := w.problems(); got != nil {
		t.Errorf("with scale_to_zero: found %q", got)
	}
}

func TestTargetThatBeginsAtZeroIsBroughtUpByItsMetrics(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 0)
		w.source.Value("q", 0)
		target := &runTarget{Target: fake.Target(), initial: -1}
		text := w.runWorkload("scale_to_zero = true", func() *runTarget { return target })
		w.write(strings.Replace(text, "min_replicas = 1", "min_replicas = 0", 1))
		w.start()
		pass(time.Minute)
		if n := fake.Replicas(); n != 0 || w.workload("web").Disabled {
			t.Errorf("%d replicas without load, disabled %t; want 0 and false", n, w.workload("web").Disabled)
		}
		w.source.Value("q", 30)
		pass(time.Minute)
		if n := fake.Replicas(); n != 3 {
			t.Errorf("%d replicas with load, want 3", n)
		}
	})
}

func TestCountTheOperatorChangedTakesEffectOnReload(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.source.Value("q", 20)
		fake := w.targets.Add("web", 2)
		first, second := &runTarget{Target: fake.Target(), initial: 2}, &runTarget{Target: fake.Target(), initial: 5}
		next := first
		text := w.runWorkload("", func() *runTarget { return next })
		w.write(text)
		w.start()
		pass(time.Second)
		next = second
		w.write(strings.Replace(text, `name = "web" }`, `name = "web", replicas = 5 }`, 1))
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		if second.activated.Load() != 1 || second.resumed.Load() != 0 {
			t.Errorf("activated %d times, resumed at %d; want once, with the new count", second.activated.Load(), second.resumed.Load())
		}
	})
}

func TestLastSizeIsKnownAlsoWithoutADesiredCount(t *testing.T) {
	zero := algorithm.Conditions{algorithm.ScaledToZero: {Status: algorithm.ConditionTrue}}
	for _, c := range []struct {
		name  string
		h     history
		want  int32
		known bool
	}{
		{"nothing is kept", history{}, 0, false},
		{"it was written", history{resumable: true, state: algorithm.State{Status: algorithm.Status{CurrentReplicas: 2, DesiredReplicas: 4}}}, 4, true},
		{"metrics never worked", history{resumable: true, state: algorithm.State{Status: algorithm.Status{CurrentReplicas: 2}}}, 2, true},
		{"it went to zero by itself", history{resumable: true, state: algorithm.State{Status: algorithm.Status{CurrentReplicas: 1, Conditions: zero}}}, 0, true},
		{"it was never read", history{resumable: true}, 0, false},
		{"it was being changed", history{resumable: true, intent: &intent{from: 2, desired: 3}}, 3, true},
	} {
		if got, known := c.h.lastSize(); got != c.want || known != c.known {
			t.Errorf("%s: %d, %t, want %d, %t", c.name, got, known, c.want, c.known)
		}
	}
}
