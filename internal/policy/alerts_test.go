package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestShippedAlertsFireWhenTheyShould(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") != "" || os.Getenv("HPAD_REQUIRE_ALL") != "" {
			t.Fatal("promtool is not installed")
		}
		t.Skip("promtool is not installed")
	}
	command := exec.Command(promtool, "test", "rules", "hpad.rules.test.yml")
	command.Dir = filepath.Join(root, "deploy", "prometheus")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}

// metricName is one of hpad's own metrics, as it stands in rules and documents; a name that ends
// in _ stands for a family of them.
var metricName = regexp.MustCompile(`\bhpad_[a-z_]*[a-z]\b`)

func TestMetricsNamedInRulesAndDocumentsExist(t *testing.T) {
	var code strings.Builder
	sources, err := filepath.Glob(filepath.Join(root, "daemon", "*.go"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources of the daemon: %v", err)
	}
	for _, file := range sources {
		code.WriteString(read(t, file))
	}
	for _, file := range []string{"deploy/prometheus/hpad.rules.yml", "docs/metrics.md", "docs/operating.md", "README.md"} {
		for _, name := range metricName.FindAllString(read(t, filepath.Join(root, file)), -1) {
			if !exists(code.String(), name) {
				t.Errorf("%s names %s, which hpad does not have", file, name)
			}
		}
	}
}

// exists tells whether the code makes a metric of that name; names of a workload's metrics are put
// together there, and those of libraries are theirs.
func exists(code, name string) bool {
	if name == "hpad_build_info" {
		return true
	}
	for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
		base := strings.TrimSuffix(name, suffix)
		perWorkload, found := strings.CutPrefix(base, "hpad_workload_")
		if strings.Contains(code, `"`+base+`"`) || found && strings.Contains(code, `perWorkload("`+perWorkload+`"`) {
			return true
		}
	}
	return false
}
