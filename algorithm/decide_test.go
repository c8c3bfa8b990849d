package algorithm_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write what happens into the behaviour scripts")

// TestBehaviour runs the scripts of testdata: each tells a rule and shows it. What a script says
// below "at" is the explanation of the evaluation at that time, and must be what happens.
func TestBehaviour(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := perform(t, file, string(want))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s: -script +what happens\n%s", file, diff)
			}
		})
	}
}

// perform runs a script and returns it with what happened in place of what it expected.
func perform(t *testing.T, file, script string) string {
	t.Helper()
	var out strings.Builder
	w := newWorld()
	for i, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		out.WriteString(line + "\n")
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		shown, err := w.do(fields[0], fields[1:])
		if err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
		for _, s := range shown {
			out.WriteString("    " + s + "\n")
		}
	}
	return out.String()
}
