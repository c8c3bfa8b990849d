package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const exampleFile = "../../config.example.toml"

func TestTheExampleOpensWithTheDriversAsItStands(t *testing.T) {
	mustOpen(t, exampleFile, 1)
}

func TestTheExampleOpensWithTheDriversAndEverySettingTakenOver(t *testing.T) {
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	taken := uncommented(string(text))
	dir := t.TempDir()
	for name, at := range map[string]string{
		"/etc/hpad/":                   dir + "/",
		"${CREDENTIALS_DIRECTORY}/":    dir + "/",
		"/usr/local/bin/mailer":        "sleep",
		"/usr/local/libexec/hpad-pool": "sleep",
	} {
		if !strings.Contains(taken, name) {
			t.Errorf("the example does not mention %q any more", name)
		}
		taken = strings.ReplaceAll(taken, name, at)
	}
	for name, content := range map[string]string{
		"hpad.toml":     taken,
		"prometheus":    "password",
		"mimir.token":   "token",
		"oauth2.secret": "secret",
		"web.yml":       "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustOpen(t, filepath.Join(dir, "hpad.toml"), strings.Count(taken, "\n[[workload]]\n"))
}

func mustOpen(t *testing.T, file string, workloads int) {
	t.Helper()
	cfg, set, problems := openConfig(file, slog.New(slog.DiscardHandler))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if len(cfg.Workloads) != workloads {
		t.Errorf("%d workloads, want %d", len(cfg.Workloads), workloads)
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

// commandsFile is made from the commands' help; "make generate" writes it.
const commandsFile = "../../docs/commands.md"

func TestTheReferenceOfCommandsIsThatOfTheCommands(t *testing.T) {
	want := commandsReference(newRoot())
	if os.Getenv("HPAD_UPDATE") != "" {
		if err := os.WriteFile(commandsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(commandsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/commands.md is old, run \"make generate\" (-want +got):\n%s", diff)
	}
}

func TestEveryCommandHasHelpAndExamples(t *testing.T) {
	root := newRoot()
	for _, c := range root.Commands() {
		if c.Hidden {
			continue
		}
		if c.Short == "" || c.Long == "" || c.Example == "" {
			t.Errorf("%s: short, long or example is missing", c.CommandPath())
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if n := len([]rune(line)); n > 100 {
				t.Errorf("%s: a line of %d characters: %s", c.CommandPath(), n, line)
			}
		}
	}
}
