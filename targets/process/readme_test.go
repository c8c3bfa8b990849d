package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
)

// optionsTitle begins the part of README.md that is written from the options.
const optionsTitle = "## Options"

// With HPAD_UPDATE=1 the reference is written.
func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	var reference strings.Builder
	if err := options.Reference(&reference, optionsTitle, defaults()); err != nil {
		t.Fatal(err)
	}
	text, written, _ := strings.Cut(readme(t), optionsTitle)
	if os.Getenv("HPAD_UPDATE") == "1" {
		if err := os.WriteFile("README.md", []byte(text+reference.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(reference.String(), optionsTitle+written); diff != "" {
		t.Errorf("README.md does not describe the options as they are; run the test with HPAD_UPDATE=1 (-want +got):\n%s", diff)
	}
}

func TestREADMEExampleCanBeBound(t *testing.T) {
	_, after, _ := strings.Cut(readme(t), "```toml\n")
	example, _, _ := strings.Cut(after, "```")
	var file struct {
		Workload []struct {
			Target map[string]any `toml:"target"`
		} `toml:"workload"`
	}
	if _, err := toml.Decode(example, &file); err != nil || len(file.Workload) != 1 {
		t.Fatalf("the example has %d workloads: %v", len(file.Workload), err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "mailer"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	target := file.Workload[0].Target
	delete(target, "via")
	if _, err := read(options.NewTable(dir, target)); err != nil {
		t.Errorf("cannot bind the example: %v", err)
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
