package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testKnown = Known{
	Sources: []string{"docker", "process", "prometheus", "scrape"},
	Targets: []string{"docker-swarm", "process"},
}

// Each file in testdata/bad begins with the problems it has, as lines that begin with "#> ".
func TestEveryMistakeIsToldWhereItIs(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in testdata/bad: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, problems := Load(file, testKnown)
			var got []string
			for _, p := range problems {
				got = append(got, strings.TrimPrefix(p.String(), "testdata/bad/"))
			}
			if diff := cmp.Diff(expectedProblems(t, file), got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func expectedProblems(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(text)) {
		if message, ok := strings.CutPrefix(line, "#> "); ok {
			want = append(want, strings.TrimRight(message, "\r\n"))
		}
	}
	if len(want) == 0 {
		t.Fatalf("%s does not say which problems it has", file)
	}
	return want
}
