package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeOver(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// requireSound loads a text and checks what must be so of any.
func requireSound(t *testing.T, path, text string) {
	t.Helper()
	writeOver(t, path, text)
	cfg, problems := Load(path, testKnown)
	last := strings.Count(text, "\n") + 1
	for _, p := range problems {
		if p.File != path || p.Line < 1 || p.Line > last || p.Message == "" {
			t.Errorf("a problem on line %d of %d: %q in:\n%s", p.Line, last, p, text)
		}
	}
	for _, w := range cfg.Workloads {
		if len(w.Metrics) != len(w.Spec.Metrics) || w.Target == nil {
			t.Errorf("a workload is in pieces: %+v", w)
		}
		if len(problems) == 0 && (w.Name == "" || w.Via == "" || len(w.Spec.Validate()) > 0) {
			t.Errorf("a workload has no problems, but is %+v", w)
		}
	}
}

func TestATruncatedFileIsToldOf(t *testing.T) {
	text, err := os.ReadFile("testdata/good/workloads.d/web.toml")
	if err != nil {
		t.Fatal(err)
	}
	main := "[targets.swarm]\ndriver = \"docker-swarm\"\n[sources.main]\ndriver = \"prometheus\"\n"
	path := writeConfig(t, "")
	for n := range len(text) + 1 {
		requireSound(t, path, main+string(text[:n]))
	}
}

func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.toml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, exampleFile, "testdata/good/workloads.d/web.toml") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	dir, err := os.MkdirTemp("", "hpad-fuzz")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, fmt.Sprintf("%d.toml", os.Getpid()))
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "include") {
			t.Skip("other files are not under test")
		}
		requireSound(t, path, text)
	})
}

// BenchmarkLoad reads what a reload of 1,000 workloads in files of their own reads.
func BenchmarkLoad(b *testing.B) {
	text, err := os.ReadFile("testdata/good/workloads.d/web.toml")
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{"hpad.toml": "include = [\"d/*.toml\"]\n[targets.swarm]\ndriver = \"docker-swarm\"\n[sources.main]\ndriver = \"prometheus\"\n"}
	for i := range 1000 {
		own := fmt.Sprintf("web-%d", i)
		files[fmt.Sprintf("d/%s.toml", own)] = strings.NewReplacer(`"web"`, `"`+own+`"`, "shop_web", own).Replace(string(text))
	}
	dir := b.TempDir()
	writeFiles(b, dir, files)
	path := filepath.Join(dir, "hpad.toml")
	b.ReportAllocs()
	for b.Loop() {
		if cfg, problems := Load(path, testKnown); len(problems) > 0 || len(cfg.Workloads) != 1000 {
			b.Fatal(len(cfg.Workloads), problems)
		}
	}
}
