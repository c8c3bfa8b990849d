package daemon

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// usageSource has samples from the second of two readings on that are a second apart; never, if it
// is broken.
type usageSource struct {
	broken   bool
	readings []time.Time
}

func (u *usageSource) driver() sources.Driver {
	return sources.Driver{Name: "usage", Open: func(sources.Environment, options.Table) (sources.Source, error) { return u, nil }}
}

func (u *usageSource) Close() error { return nil }

func (u *usageSource) ReadResource(
	_ context.Context, _, _ string, instances []targets.Instance, at time.Time,
) ([]algorithm.Sample, error) {
	u.readings = append(u.readings, at)
	samples := make([]algorithm.Sample, len(instances))
	for i := range samples {
		samples[i].Present = !u.broken && at.Sub(u.readings[0]) >= time.Second
	}
	return samples, nil
}

func TestLiveReadsUsageTwiceBeforeItSaysThatThereIsNone(t *testing.T) {
	for name, broken := range map[string]bool{"measurable": false, "never measurable": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				usage := &usageSource{broken: broken}
				got := strings.Join(liveOf(t, usage), "\n")
				if found := strings.Contains(got, `has a sample of "cpu"`); found != broken {
					t.Errorf("Live found:\n%s", got)
				}
				if len(usage.readings) != 2 {
					t.Errorf("read %d times, want twice", len(usage.readings))
				}
			})
		})
	}
}

// liveOf is the live check of one workload with two instances that the source measures.
func liveOf(t *testing.T, usage *usageSource) []string {
	t.Helper()
	w := newWorld(t)
	w.targets.Add("a", 2)
	driver := w.targets.Driver()
	driver.Name, driver.Resource = "measured", targets.ResourceSource{Driver: "usage"}
	w.moreTargets = []targets.Driver{driver}
	w.moreSources = []sources.Driver{usage.driver()}
	w.write("[targets.measured]\ndriver = \"measured\"\n", `
[[workload]]
name = "a"
target = { via = "measured", name = "a" }
max_replicas = 3
`)
	cfg, problems := w.load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set, problems := Build(cfg, w.drivers(), quietEnvironment())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	defer set.Close()
	return set.Live(t.Context())
}

func TestMissingSamplesAreExplained(t *testing.T) {
	failing := []string{"instance 1 exited with status 1, restarts in 8s", "another"}
	for _, c := range []struct {
		resource string
		warnings []string
		want     string
	}{
		{"cpu", nil, `none of 1 instances has a sample of "cpu" yet (usage over time takes two readings)`},
		{"memory", nil, `none of 1 instances has a sample of "memory" yet`},
		{"memory", failing, `none of 1 instances has a sample of "memory" yet: instance 1 exited with status 1, restarts in 8s`},
		{"cpu", failing, `none of 1 instances has a sample of "cpu" yet: instance 1 exited with status 1, restarts in 8s`},
	} {
		e := &evaluation{status: targets.Status{Instances: make([]targets.Instance, 1), Warnings: c.warnings}}
		if got := e.unmeasured(c.resource).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
