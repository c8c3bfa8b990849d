package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hpad/hpad/daemon/config"
)

// documents are those for people, below root.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	return append(files, filepath.Join(root, "README.md"))
}

// blocks returns the fenced blocks of a language in a Markdown text.
func blocks(markdown, language string) []string {
	var all []string
	for _, part := range strings.Split(markdown, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		all = append(all, block)
	}
	return all
}

// TestConfigurationsInDocumentsLoad takes the blocks of each document for one configuration.
func TestConfigurationsInDocumentsLoad(t *testing.T) {
	loaded := 0
	for _, file := range documents(t) {
		parts := blocks(read(t, file), "toml")
		if len(parts) == 0 {
			continue
		}
		main := filepath.Join(t.TempDir(), "hpad.toml")
		if err := os.WriteFile(main, []byte(strings.Join(parts, "\n\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, problems := config.Load(main, config.Known{})
		if len(problems) > 0 {
			t.Errorf("%s: its toml blocks are no configuration: %v", file, problems)
		}
		loaded += len(cfg.Workloads)
	}
	if loaded < 2 {
		t.Errorf("the documents show %d workloads, want at least 2", loaded)
	}
}

func TestShippedConfigurationsLoad(t *testing.T) {
	for _, file := range []string{"config.example.toml", "deploy/examples/hpad.toml"} {
		cfg, problems := config.Load(filepath.Join(root, file), config.Known{})
		if len(problems) > 0 {
			t.Errorf("%s: %v", file, problems)
		}
		if len(cfg.Workloads) == 0 {
			t.Errorf("%s has no workload", file)
		}
	}
}

// TestCommandsInDocumentsExist knows what "hpad" and "make" can do, from the reference of commands
// (which a test of cmd/hpad keeps true) and the Makefile.
func TestCommandsInDocumentsExist(t *testing.T) {
	reference := read(t, filepath.Join(root, "docs", "commands.md"))
	makefile := read(t, filepath.Join(root, "Makefile"))
	seen := 0
	for _, file := range documents(t) {
		for _, block := range blocks(read(t, file), "sh") {
			for line := range strings.Lines(block) {
				words := command(line)
				if len(words) < 2 {
					continue
				}
				seen++
				switch filepath.Base(words[0]) {
				case "hpad":
					checkCommand(t, file, reference, words[1:])
				case "make":
					if !strings.Contains(makefile, "\n"+words[1]+":") {
						t.Errorf("%s: the Makefile has no %q", file, words[1])
					}
				case "install":
					checkFile(t, file, words[len(words)-2])
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("found only %d commands in the documents", seen)
	}
}

// command splits a line of a shell, without comment and variables in front.
func command(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(line)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	return words
}

func checkCommand(t *testing.T, file, reference string, words []string) {
	t.Helper()
	_, section, found := strings.Cut(reference, "\n## hpad "+words[0]+"\n")
	if !found {
		t.Errorf("%s: hpad has no command %q", file, words[0])
		return
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, word := range words[1:] {
		flag, _, _ := strings.Cut(word, "=")
		known := flag == "--config" || regexp.MustCompile("[`| ]"+regexp.QuoteMeta(flag)+"[`, ]").MatchString(section)
		if strings.HasPrefix(flag, "-") && !known {
			t.Errorf("%s: hpad %s has no flag %s", file, words[0], flag)
		}
	}
}

// checkFile is about what is installed from the tree; what is built or made elsewhere is not in it.
func checkFile(t *testing.T, file, source string) {
	t.Helper()
	if strings.HasPrefix(source, "/") || strings.HasPrefix(source, "bin/") {
		return
	}
	if _, err := os.Stat(filepath.Join(root, source)); err != nil {
		t.Errorf("%s installs %s: %v", file, source, err)
	}
}

var link = regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	files := documents(t)
	for _, pattern := range []string{"sources/*/README.md", "targets/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		for _, match := range link.FindAllStringSubmatch(read(t, file), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), match[1])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// elsewhere are words that mean something of one machine or company and not of hpad.
var elsewhere = []string{"/root/" + "go", "/home/" + "user"}

func TestNothingNamesTheMachineItWasWrittenOn(t *testing.T) {
	for _, file := range tracked(t) {
		if slices.Contains([]string{".png", ".gz"}, filepath.Ext(file)) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue
		}
		for _, word := range elsewhere {
			if strings.Contains(string(content), word) {
				t.Errorf("%s names %s", file, word)
			}
		}
	}
}
