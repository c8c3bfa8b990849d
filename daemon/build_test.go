package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

func quietEnvironment() Environment {
	return Environment{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// problems returns what is wrong with the configuration, without the folder of the file.
func (w *world) problems() []string {
	cfg, loading := w.load()
	set, building := Build(cfg, w.drivers(), quietEnvironment())
	if set != nil {
		if err := set.Close(); err != nil {
			w.t.Error(err)
		}
	}
	var lines []string
	for _, p := range Merge(loading, building) {
		p.File = "hpad.toml"
		lines = append(lines, p.String())
	}
	return lines
}

func TestAllProblemsAreFoundAtOnceWithTheirPlace(t *testing.T) {
	w := newWorld(t)
	w.source.Check(func(q sources.Query) error {
		if strings.HasPrefix(q.Text, "sum(") {
			return errors.New("1:5: unclosed left parenthesis")
		}
		return nil
	})
	w.moreSources = []sources.Driver{
		onlyResources(), {Name: "picky", Open: func(sources.Environment, options.Table) (sources.Source, error) {
			return nil, errors.Join(options.Errorf("url", "is required"), options.Errorf("timeout", "must be > 0s"))
		}},
	}
	w.write("[sources.res]\ndriver = \"resources\"\n[sources.picky]\ndriver = \"picky\"\nurl = \"\"\n",
		queueWorkload("a", "sum("),
		strings.Replace(queueWorkload("b", "q"), `name = "b" }`, `name = "a" }`, 1),
		strings.Replace(queueWorkload("c", "q"), `source = "fake"`, `source = "res"`, 1),
		strings.Replace(queueWorkload("d", "q"), `name = "d" }`, `nom = "d" }`, 1),
		strings.Replace(strings.Replace(queueWorkload("e", "q"), "source = \"fake\"\nquery = \"q\"\naverage_value = 10", "average_utilization = 50", 1),
			`"external"`+"\nname = \"queue\"", `"resource"`+"\nname = \"cpu\"", 1),
	)
	want := []string{
		`hpad.toml:13: source "picky": url: is required`,
		`hpad.toml:11: source "picky": timeout: must be > 0s`,
		`workload "a": metric[0].query: 1:5: unclosed left parenthesis`,
		`workload "b": target: is also the target of workload "a"`,
		`workload "c": metric[0].source: source "res" answers no queries, it only measures instances`,
		`workload "d": target.nom:`,
		`workload "e": metric[0].source: is required: nothing measures the instances of driver "fake" by itself`,
	}
	got := w.problems()
	for _, line := range want {
		if !strings.Contains(strings.Join(got, "\n"), line) {
			t.Errorf("missing: %s", line)
		}
	}
	if t.Failed() {
		t.Logf("found:\n%s", strings.Join(got, "\n"))
	}
}

func TestTwoWaysToWriteOneTargetAreADuplicate(t *testing.T) {
	w := newWorld(t)
	one := w.targets.Add("one", 1).Target()
	w.moreTargets = []targets.Driver{oneTargetDriver("one", one)}
	w.write("[targets.one]\ndriver = \"one\"\n",
		strings.Replace(queueWorkload("a", "q"), `via = "fake"`, `via = "one"`, 1),
		strings.Replace(queueWorkload("b", "q"), `via = "fake"`, `via = "one"`, 1))
	got := strings.Join(w.problems(), "\n")
	if !strings.Contains(got, `workload "b": target: is the target of workload "a" already (`) || !strings.Contains(got, "fake:one") {
		t.Errorf("found:\n%s", got)
	}
}

func TestBuildThatFailsReleasesWhatItOpened(t *testing.T) {
	w := newWorld(t)
	w.write(queueWorkload("a", "q"), strings.Replace(queueWorkload("b", "q"), `name = "b" }`, `nom = "b" }`, 1))
	if len(w.problems()) == 0 {
		t.Fatal("no problem was found")
	}
	if n := w.source.Closed(); n != 1 {
		t.Errorf("the source was closed %d times, want once", n)
	}
}

func TestLiveSaysWhatDoesNotWorkAndWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.source.Value("q", 80)
	w.source.Fail("bad", sources.Errorf(sources.NoData, "the answer is empty"))
	fine := w.targets.Add("fine", 2)
	w.targets.Add("failing", 2)
	w.write(queueWorkload("fine", "q"), queueWorkload("failing", "bad"), queueWorkload("missing", "bad"))
	cfg, problems := w.load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set, problems := Build(cfg, w.drivers(), quietEnvironment())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	defer set.Close()
	want := []string{
		`workload "failing": metric[0]: the answer is empty`,
		`workload "missing": target: there is no target "missing"`,
		`workload "missing": metric[0]: the answer is empty`,
	}
	if diff := cmp.Diff(want, set.Live(context.Background())); diff != "" {
		t.Errorf("Live (-want +got):\n%s", diff)
	}
	if len(fine.Writes()) != 0 {
		t.Errorf("Live wrote: %v", fine.Writes())
	}
}

func TestResourceMetricIsMeasuredByTheSourceOfTheTargetsDriver(t *testing.T) {
	w := newWorld(t)
	driver := w.targets.Driver()
	driver.Name, driver.Resource = "measured", targets.ResourceSource{Driver: "resources"}
	w.moreTargets = []targets.Driver{driver}
	w.moreSources = []sources.Driver{onlyResources()}
	w.write("[targets.measured]\ndriver = \"measured\"\n", `
[[workload]]
name = "a"
target = { via = "measured", name = "a" }
max_replicas = 3
`)
	if got := w.problems(); got != nil {
		t.Errorf("found:\n%s", strings.Join(got, "\n"))
	}
}
