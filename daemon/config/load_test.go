package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
)

func loadGood(t *testing.T) *Config {
	t.Helper()
	t.Setenv("RUNTIME_DIRECTORY", "")
	t.Setenv("STATE_DIRECTORY", "")
	cfg, problems := Load("testdata/good/hpad.toml", testKnown)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

func TestFilesAreReadInOrderAndLeftOversPassedOver(t *testing.T) {
	want := []string{
		"testdata/good/hpad.toml",
		"testdata/good/workloads.d/a-worker.toml",
		"testdata/good/workloads.d/web.toml",
	}
	cfg := loadGood(t)
	if diff := cmp.Diff(want, cfg.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"worker", "web"}, workloadNames(cfg)); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
}

func TestAFolderThatLooksLikeAPatternIsNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*")
	writeFiles(t, dir, map[string]string{
		"hpad.toml": `include = ["d/*.toml"]`,
		"d/a.toml":  workloadText("a"),
	})
	cfg, problems := Load(filepath.Join(dir, "hpad.toml"), testKnown)
	if diff := cmp.Diff([]string{"a"}, workloadNames(cfg)); diff != "" || problems != nil {
		t.Errorf("problems %v, workloads (-want +got):\n%s", problems, diff)
	}
}

func TestTheDaemonTableIsReadOnTopOfTheDefaults(t *testing.T) {
	dir, err := filepath.Abs("testdata/good")
	if err != nil {
		t.Fatal(err)
	}
	want := Daemon{
		SyncPeriod: 30 * time.Second,
		Settings: algorithm.Settings{
			Tolerance:               0.2,
			DownscaleStabilization:  24 * time.Hour,
			CPUInitializationPeriod: 5 * time.Minute,
			InitialReadinessDelay:   30 * time.Second,
		},
		WebConfigFile: filepath.Join(dir, "web.yml"),
		Socket:        "/run/hpad/hpad.sock",
		StateDir:      filepath.Join(dir, "state"),
	}
	if diff := cmp.Diff(want, loadGood(t).Daemon); diff != "" {
		t.Errorf("daemon (-want +got):\n%s", diff)
	}
}

func TestTheFoldersOfTheUnitAreDefaults(t *testing.T) {
	t.Setenv("RUNTIME_DIRECTORY", "/run/other:/run/more")
	t.Setenv("STATE_DIRECTORY", "/var/lib/other")
	cfg, _ := Load(writeConfig(t, ""), testKnown)
	if cfg.Daemon.Socket != "/run/other/hpad.sock" || cfg.Daemon.StateDir != "/var/lib/other" {
		t.Errorf("socket %q, state %q", cfg.Daemon.Socket, cfg.Daemon.StateDir)
	}
	cfg, _ = Load(writeConfig(t, "[daemon]\nsocket = \"\"\nstate_dir = \"\""), testKnown)
	if cfg.Daemon.Socket != "" || cfg.Daemon.StateDir != "" {
		t.Errorf("what is empty by intent became socket %q, state %q", cfg.Daemon.Socket, cfg.Daemon.StateDir)
	}
}

func TestAWorkloadIsReadCompletely(t *testing.T) {
	cfg := loadGood(t)
	zero, day := time.Duration(0), 24*time.Hour
	up, down := 0.07, 0.35000000000000003
	want := Workload{
		Name: "web", Via: "swarm", DryRun: true,
		Requests: []algorithm.Request{
			{Resource: "cpu", Value: 500},
			{Resource: "memory", Value: 512 << 20 * 1000},
		},
		Spec: algorithm.Spec{
			MinReplicas: 2, MaxReplicas: 20,
			Metrics: []algorithm.Metric{
				{Type: "container_resource", Name: "memory", Container: "app", Target: algorithm.TargetValue{Kind: "average_value", Value: 300 << 20 * 1000}},
				{Type: "instances", Name: "requests", Target: algorithm.TargetValue{Kind: "average_value", Value: 100}},
				{Type: "object", Name: "connections", Object: "Ingress/main", Target: algorithm.TargetValue{Kind: "value", Value: 1500}},
			},
			Behavior: &algorithm.Behavior{
				ScaleUp: algorithm.Rules{
					StabilizationWindow: &zero, SelectPolicy: "min", Tolerance: &up,
					Policies: []algorithm.Policy{{Type: "instances", Value: 4, Period: 15 * time.Second}},
				},
				ScaleDown: algorithm.Rules{
					StabilizationWindow: &day, SelectPolicy: "disabled", Tolerance: &down,
					Policies: []algorithm.Policy{{Type: "percent", Value: 100, Period: 15 * time.Second}},
				},
			},
			Settings: cfg.Daemon.Settings,
		},
		Metrics: []Metric{
			{InstanceLabel: "instance", MaxAge: 2 * time.Minute},
			{Source: "main", Query: "requests", InstanceLabel: "host", MaxAge: 30 * time.Second, CheckTimestamp: true},
			{Source: "main", Query: "connections", InstanceLabel: "instance", MaxAge: 2 * time.Minute, Select: map[string]string{"ingress": "main"}},
		},
	}
	ignored := cmp.Options{
		cmpopts.IgnoreUnexported(algorithm.Spec{}, algorithm.Metric{}, Workload{}),
		cmpopts.IgnoreFields(Workload{}, "Target", "Fingerprint"),
	}
	if diff := cmp.Diff(want, cfg.Workloads[1], ignored); diff != "" {
		t.Errorf("workload (-want +got):\n%s", diff)
	}
}

func TestAnEmptyBehaviorIsNotNone(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                true,
		"behavior = {}":                   false,
		"[workload.behavior]":             false,
		"[workload.behavior.scale_down]":  false,
		"behavior = { scale_up = {} }":    false,
		"[[workload.metric]]\ntype = 'x'": true,
	} {
		cfg, _ := Load(writeConfig(t, workloadText("a")+text), testKnown)
		if got := cfg.Workloads[0].Spec.Behavior == nil; got != want {
			t.Errorf("%q: no behavior is %v, want %v", text, got, want)
		}
	}
}

func TestWithoutMetricsItIsCPU(t *testing.T) {
	w := loadGood(t).Workloads[0]
	if len(w.Spec.Metrics) != 1 || len(w.Metrics) != 1 || w.Spec.Metrics[0].Name != "cpu" {
		t.Errorf("metrics are %+v and %+v", w.Spec.Metrics, w.Metrics)
	}
}

func TestADriverNeedsNoTable(t *testing.T) {
	cfg := loadGood(t)
	want := []Driver{{Name: "swarm", Driver: "docker-swarm"}, {Name: "process", Driver: "process", Implied: true}}
	if diff := cmp.Diff(want, cfg.Targets, cmpopts.IgnoreFields(Driver{}, "Options")); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	problems := cfg.Targets[1].Options.Problems(options.Errorf("shell", "is required"))
	const want0 = `testdata/good/workloads.d/a-worker.toml:7: target "process": shell: is required`
	if len(problems) != 1 || problems[0].String() != want0 {
		t.Errorf("problems %v, want %s", problems, want0)
	}
}

func TestDriversProblemsAreLocated(t *testing.T) {
	cfg := loadGood(t)
	for _, c := range []struct {
		problems Problems
		want     string
	}{
		{cfg.Sources[0].Options.Problems(options.Errorf("http_headers.X-Scope-OrgID.values[0]", "is short")), `testdata/good/hpad.toml:14: source "main": http_headers.X-Scope-OrgID.values[0]: is short`},
		{cfg.Sources[0].Options.Problems(os.ErrNotExist), `testdata/good/hpad.toml:11: source "main": file does not exist`},
		{cfg.Workloads[0].Target.Problems(options.Errorf("command", "is short")), `testdata/good/workloads.d/a-worker.toml:8: workload "worker": target.command: is short`},
		{cfg.Workloads[1].Problems(options.Errorf("metric[1].query", "is wrong")), `testdata/good/workloads.d/web.toml:19: workload "web": metric[1].query: is wrong`},
	} {
		if got := c.problems.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestDriversDecodeTheRestOfTheirTable(t *testing.T) {
	cfg := loadGood(t)
	var got struct {
		Command []string `toml:"command"`
	}
	if err := cfg.Workloads[0].Target.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"worker"}, got.Command); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	if err := cfg.Workloads[0].Target.Only("port").Decode(&struct{}{}); err != nil {
		t.Errorf("a table with none but absent keys is empty, but: %v", err)
	}
}

func TestAFileThatCannotBeReadIsAProblem(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "missing.toml"): "missing.toml: cannot read the file: no such file or directory",
		dir:                                ": cannot read the file: is a directory",
	} {
		cfg, problems := Load(path, testKnown)
		if len(problems) != 1 || !strings.HasSuffix(problems[0].String(), want) || cfg == nil {
			t.Errorf("problems %v, want %s", problems, want)
		}
	}
	writeFiles(t, dir, map[string]string{"large.toml": strings.Repeat("#", largestFile+1)})
	_, problems := Load(filepath.Join(dir, "large.toml"), testKnown)
	if len(problems) != 1 || !strings.Contains(problems.Error(), "larger than 4 MiB") {
		t.Errorf("problems %v", problems)
	}
}

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"hpad.toml": text})
	return filepath.Join(dir, "hpad.toml")
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func workloadText(name string) string {
	return "[[workload]]\nname = \"" + name + "\"\nmax_replicas = 5\n" +
		"target = { via = \"process\", command = [\"" + name + "\"] }\n"
}

func TestTwoFilesWithOneTargetAreRefused(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"hpad.toml": "include = [\"d/*.toml\"]\n" + workloadText("a"),
		"d/b.toml":  strings.Replace(workloadText("a"), `name = "a"`, `name = "b"`, 1),
	})
	_, problems := Load(filepath.Join(dir, "hpad.toml"), testKnown)
	want := `workload "b": target: is also the target of workload "a" (` + filepath.Join(dir, "hpad.toml") + ":5)"
	if len(problems) != 1 || !strings.HasSuffix(problems.Error(), want) {
		t.Errorf("problems %v, want %s", problems, want)
	}
}
