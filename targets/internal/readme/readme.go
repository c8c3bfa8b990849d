// Package readme holds tests of the README.md beside a driver to what the driver is.
package readme

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
)

// optionsTitle begins the part of a README.md that is written from the options.
const optionsTitle = "## Options\n\n"

// Options checks that README.md ends in the reference of the options: pairs of a title and a struct
// with the defaults. With HPAD_UPDATE=1 it is written.
func Options(t *testing.T, titlesAndDefaults ...any) {
	t.Helper()
	var reference strings.Builder
	for i := 0; i < len(titlesAndDefaults); i += 2 {
		if i > 0 {
			reference.WriteString("\n")
		}
		title, _ := titlesAndDefaults[i].(string)
		if err := options.Reference(&reference, title, titlesAndDefaults[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	before, written, _ := strings.Cut(text(t, "README.md"), optionsTitle)
	if os.Getenv("HPAD_UPDATE") == "1" {
		if err := os.WriteFile("README.md", []byte(before+optionsTitle+reference.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(reference.String(), written); diff != "" {
		t.Errorf("README.md does not describe the options as they are; run the test with HPAD_UPDATE=1 (-want +got):\n%s", diff)
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Block returns the first fenced block of that language in a document that begins with the given
// text.
func Block(t *testing.T, file, language, begin string) string {
	t.Helper()
	for _, part := range strings.Split(text(t, file), "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		if strings.HasPrefix(block, begin) {
			return block + "\n"
		}
	}
	t.Fatalf("%s has no block of %s that begins with %q", file, language, begin)
	return ""
}
