package sourcetest

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
)

// optionsTitle begins the part of a README.md that is written from the options.
const optionsTitle = "## Options"

// README checks the README.md beside a driver's test: it ends in the reference of the driver's
// options, and every [sources.NAME] table in it can be opened with the driver it names. With
// HPAD_UPDATE=1 the reference is written.
func README(t *testing.T, driver sources.Driver, defaults any) {
	t.Helper()
	var reference strings.Builder
	if err := options.Reference(&reference, optionsTitle, defaults); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, written, _ := strings.Cut(string(content), optionsTitle)
	if os.Getenv("HPAD_UPDATE") == "1" {
		if err := os.WriteFile("README.md", []byte(text+reference.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(reference.String(), optionsTitle+written); diff != "" {
		t.Errorf("README.md does not describe the options as they are; run the test with HPAD_UPDATE=1 (-want +got):\n%s", diff)
	}
	opened := 0
	for _, sample := range samples(text) {
		opened += openSample(t, driver, sample)
	}
	if opened == 0 {
		t.Errorf("README.md has no [sources.NAME] table with driver = %q", driver.Name)
	}
}

// samples returns the TOML blocks of a Markdown text.
func samples(markdown string) []string {
	var all []string
	for _, block := range strings.Split(markdown, "```toml\n")[1:] {
		sample, _, _ := strings.Cut(block, "```")
		all = append(all, sample)
	}
	return all
}

// openSample opens the sources of a sample, whose files need not be there, and counts them.
func openSample(t *testing.T, driver sources.Driver, sample string) int {
	t.Helper()
	var file struct {
		Sources map[string]map[string]any `toml:"sources"`
	}
	if _, err := toml.Decode(sample, &file); err != nil {
		t.Errorf("cannot read a sample: %v\n%s", err, sample)
	}
	for name, table := range file.Sources {
		if table["driver"] != driver.Name {
			t.Errorf("the sample's source %q has driver %v, want %q", name, table["driver"], driver.Name)
		}
		delete(table, "driver")
		opened, err := driver.Open(sources.Environment{Log: slog.New(slog.DiscardHandler)}, options.NewTable(t.TempDir(), table))
		if err != nil {
			t.Errorf("cannot open the sample's source %q: %v", name, err)
			continue
		}
		_ = opened.Close()
	}
	return len(file.Sources)
}
