package policy

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range packages(t, false) {
		if strings.TrimSpace(p.comment) == "" {
			t.Errorf("%s has no package comment", p.dir)
		}
	}
}

// clocks are what package algorithm may not call; its imports cannot tell, as it needs the types.
var clocks = regexp.MustCompile(`\btime\.(Now|Since|Until|After|AfterFunc|Tick|NewTimer|NewTicker|Sleep)\(`)

func TestTheDecisionReadsNoClock(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "algorithm", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if call := clocks.FindString(read(t, file)); call != "" {
			t.Errorf("%s calls %s", file, call)
		}
	}
}

// measuring are folders whose tests measure a span of real time.
var measuring = []string{"internal/loadtest"}

func TestNoTestSleepsInRealTime(t *testing.T) {
	sleepers, bubbles := map[string]string{}, map[string]bool{}
	for _, file := range tracked(t) {
		dir := path.Dir(file)
		if !strings.HasSuffix(file, "_test.go") || dir == "internal/policy" || slices.Contains(measuring, dir) {
			continue
		}
		text := read(t, filepath.Join(root, file))
		if strings.Contains(text, "time.Sleep(") {
			sleepers[dir] = file
		}
		bubbles[dir] = bubbles[dir] || strings.Contains(text, `"testing/synctest"`)
	}
	for dir, file := range sleepers {
		if !bubbles[dir] {
			t.Errorf("%s sleeps; wait for the event, or use testing/synctest", file)
		}
	}
}

func TestShippedUnitIsSandboxed(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("systemd-analyze is not installed")
		}
		t.Skip("systemd-analyze is not installed")
	}
	unit := filepath.Join(root, "deploy", "systemd", "hpad.service")
	out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", "--threshold=15", unit).CombinedOutput()
	if err != nil {
		t.Errorf("the exposure of %s is above 1.5: %v\n%s", unit, err, out)
	}
}

// tracked are the files of the repository; of an archive without git, all Go files.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files").Output()
	if err == nil {
		return strings.Fields(string(out))
	}
	var files []string
	err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			files = append(files, filepath.ToSlash(strings.TrimPrefix(path, root+"/")))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
