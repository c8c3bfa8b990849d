package algorithm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const document = "../docs/semantics.md"

func readAll(t *testing.T, patterns ...string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// Every proof docs/semantics.md names exists, and every script is named as one.
func TestEveryProofOfTheDocumentExists(t *testing.T) {
	text := readAll(t, document)
	tests := readAll(t, "*_test.go", "../daemon/*_test.go", "../sources/*_test.go")
	for _, name := range regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`").FindAllStringSubmatch(text, -1) {
		if !strings.Contains(tests, "func "+name[1]+"(") {
			t.Errorf("%s is named as a proof and does not exist", name[1])
		}
	}
	named := map[string]bool{}
	for _, line := range strings.Split(text, "Proof:")[1:] {
		line, _, _ = strings.Cut(line, "\n\n")
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line, -1) {
			named[name[1]] = true
			if _, err := os.Stat("testdata/" + name[1] + ".txt"); err != nil {
				t.Errorf("script %s is named as a proof: %v", name[1], err)
			}
		}
	}
	scripts, _ := filepath.Glob("testdata/*.txt")
	for _, script := range scripts {
		if name := strings.TrimSuffix(filepath.Base(script), ".txt"); !named[name] {
			t.Errorf("script %s proves nothing in %s", name, document)
		}
	}
}

// Every section the code speaks of is in docs/semantics.md, and every section has a proof.
func TestEverySectionTheCodeNamesExists(t *testing.T) {
	sections := map[string]string{}
	for _, part := range strings.Split("\n"+readAll(t, document), "\n## ")[1:] {
		number, rest, _ := strings.Cut(part, ". ")
		sections[number] = rest
		if !strings.Contains(rest, "Proof:") {
			t.Errorf("section %s has no proof", number)
		}
	}
	if len(sections) != 26 {
		t.Errorf("%d sections, want 0 to 25", len(sections))
	}
	mention := regexp.MustCompile(`sections? (\d+)`)
	for _, found := range mention.FindAllStringSubmatch(readAll(t, "*.go", "scenario/*.go", "testdata/*.txt"), -1) {
		if _, ok := sections[found[1]]; !ok {
			t.Errorf("section %s does not exist", found[1])
		}
	}
}
