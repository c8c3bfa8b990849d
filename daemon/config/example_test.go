package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const exampleFile = "../../config.example.toml"

func TestTheExampleLoads(t *testing.T) {
	cfg, problems := Load(exampleFile, testKnown)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff([]string{"demo"}, workloadNames(cfg)); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
}

func TestTheExampleLoadsWithEverySettingTakenOver(t *testing.T) {
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hpad.toml")
	if err := os.WriteFile(file, []byte(uncommented(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	// That every driver is there is tested where drivers are: in cmd/hpad.
	cfg, problems := Load(file, Known{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if want := strings.Count(uncommented(string(text)), "\n[[workload]]\n"); want < 3 || len(cfg.Workloads) != want {
		t.Errorf("workloads are %q, want %d", workloadNames(cfg), want)
	}
	shown := map[string]bool{}
	for _, d := range cfg.Sources {
		shown["source "+d.Driver] = true
	}
	for _, d := range cfg.Targets {
		shown["target "+d.Driver] = true
	}
	for _, driver := range testKnown.Sources {
		if !shown["source "+driver] {
			t.Errorf("no source of driver %q", driver)
		}
	}
	for _, driver := range testKnown.Targets {
		if !shown["target "+driver] {
			t.Errorf("no target of driver %q", driver)
		}
	}
}

// uncommented takes over the settings ("# key = …") and leaves the prose ("## …").
func uncommented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimPrefix(line, "# "))
	}
	return out.String()
}

func workloadNames(cfg *Config) []string {
	var names []string
	for _, w := range cfg.Workloads {
		names = append(names, w.Name)
	}
	return names
}
