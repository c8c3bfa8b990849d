package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// top is the top of the tree, seen from this package.
const top = "../.."

// documents are the documents that show commands. Each has a test in this package that runs them.
var documents = []string{
	"README.md",
	"docs/benchmarks.md",
	"docs/getting-started.md",
	"docs/operating.md",
	"targets/exec/README.md",
}

func TestEveryDocumentThatShowsCommandsIsFollowed(t *testing.T) {
	followed := map[string]bool{}
	for _, document := range documents {
		followed[document] = true
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "deploy/*.md", "deploy/*/*.md", "sources/*/*.md", "targets/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimPrefix(filepath.ToSlash(file), top+"/")
			if shows := len(commandsIn(blocksOf(t, name))) > 0; shows != followed[name] {
				t.Errorf("%s: shows commands: %v; has a test that runs them: %v", name, shows, followed[name])
			}
		}
	}
}

// block is one fenced block of a document.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func blocksOf(t *testing.T, document string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, document))
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for _, match := range fence.FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{match[1], match[2]})
	}
	return all
}

var nameOfProgram = regexp.MustCompile(`^#!.*\n# ([^ :]+)`)

// program is the name of the program that the block is, as its second line has it; empty if it is
// commands. The tests of the driver whose page shows a program run it.
func (b block) program() string {
	if name := nameOfProgram.FindStringSubmatch(b.text); name != nil {
		return name[1]
	}
	return ""
}

// commandsIn are the lines of the blocks of shell, without their comments and without programs.
func commandsIn(blocks []block) []string {
	var all []string
	for _, b := range blocks {
		if b.language == "sh" && b.program() == "" {
			all = append(all, lines(b.text)...)
		}
	}
	return all
}

// lines are the lines that say something, without comments.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

var (
	identity = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
	quantity = regexp.MustCompile(`\d+(\.\d+)?([hms]\d*)*`)
	plural   = regexp.MustCompile(`\b(instance|replica|second|metric)s\b`)
	// winner is what tells which of several metrics decides: that depends on how busy a machine is.
	winner = regexp.MustCompile(`(cpu resource utilization \(percentage of request\)|external metric [a-z_]+\(nil\))( above target)|` +
		`\b(metric=)[a-z_]+|[a-z_]+( asks for most)`)
	gap = regexp.MustCompile(` +`)
)

// shape is a line of output with all that differs from one run to the next made equal: numbers,
// quantities, ages, moments, identities, widths of columns, and which of the metrics decided.
func shape(line string) string {
	line = identity.ReplaceAllString(line, "I")
	line = quantity.ReplaceAllString(line, "N")
	line = plural.ReplaceAllString(line, "$1")
	line = winner.ReplaceAllString(line, "M$2$3$4")
	return strings.TrimSpace(gap.ReplaceAllString(line, " "))
}

func TestShapesAreEqualWhereOnlyNumbersDiffer(t *testing.T) {
	for _, same := range [][2]string{
		{"burn   process/1d8b2f2fc606   cpu: 26%/20%   1   3   40s", "burn process/31e4aa8c5138 cpu: 100%/35% 1 3 1m5s"},
		{"time=2026-11-21T02:48:32.505Z level=INFO", "time=2027-01-01T00:00:00.1Z level=INFO"},
		{"26% (536m) / 20%   asks for 3", "100% (1) / 20%  asks for 3"},
		{
			`reason="cpu resource utilization (percentage of request) above target" metric=cpu`,
			`reason="external metric offered_load(nil) above target" metric=offered_load`,
		},
		{"metrics: cpu asks for most, 3", "metrics: offered_load asks for most, 5"},
		{"usage ratio 2.86, 1 instance ready", "usage ratio 3, 2 instances ready"},
	} {
		if shape(same[0]) != shape(same[1]) {
			t.Errorf("%q and %q differ", shape(same[0]), shape(same[1]))
		}
	}
	if shape("ScaleUpLimit 3") == shape("ScaleDownLimit 3") {
		t.Error("words make no difference")
	}
}
