package docker

import (
	"os"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// The titles of the parts of README.md that are written from the options.
const (
	engineTitle  = "### In `[targets.NAME]`"
	bindingTitle = "### In the `target` of a workload"
	behindTitle  = "\n## Example"
)

// With HPAD_UPDATE=1 the reference is written.
func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	var reference strings.Builder
	if err := options.Reference(&reference, engineTitle, dockerapi.Defaults()); err != nil {
		t.Fatal(err)
	}
	reference.WriteString("\n")
	if err := options.Reference(&reference, bindingTitle, bindingOptions{}); err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(readme(t), engineTitle)
	written, after, _ := strings.Cut(engineTitle+rest, behindTitle)
	if os.Getenv("HPAD_UPDATE") == "1" {
		if err := os.WriteFile("README.md", []byte(before+reference.String()+behindTitle+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(reference.String(), written); diff != "" {
		t.Errorf("README.md does not describe the options as they are; run the test with HPAD_UPDATE=1 (-want +got):\n%s", diff)
	}
}

func TestREADMEExampleCanBeBound(t *testing.T) {
	_, after, _ := strings.Cut(readme(t), "```toml\n")
	example, _, _ := strings.Cut(after, "```")
	var file struct {
		Targets  map[string]map[string]any `toml:"targets"`
		Workload []struct {
			Target map[string]any `toml:"target"`
		} `toml:"workload"`
	}
	if _, err := toml.Decode(example, &file); err != nil || len(file.Workload) != 2 {
		t.Fatalf("the example has %d workloads: %v", len(file.Workload), err)
	}
	engine := file.Targets["engine"]
	delete(engine, "driver")
	connection, err := Driver().Open(environment(t.Output()), options.NewTable("/etc/hpad", engine))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	for _, workload := range file.Workload {
		delete(workload.Target, "via")
		if _, err := connection.Bind(options.NewTable("/etc/hpad", workload.Target)); err != nil {
			t.Error(err)
		}
	}
}

func readme(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
