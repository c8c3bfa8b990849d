package daemon

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

func TestDocumentNamesTheMetricsThereAre(t *testing.T) {
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile("(?m)^\\| `hpad_.*")
	name := regexp.MustCompile("`(hpad_[a-z_]+)`")
	var documented []string
	for _, row := range table.FindAllString(string(text), -1) {
		for _, found := range name.FindAllStringSubmatch(row, -1) {
			documented = append(documented, found[1])
		}
	}
	inBubble(t, func(t *testing.T, w *world) {
		w.startMixed()
		families, err := w.daemon.metrics.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var served []string
		for _, family := range families {
			served = append(served, family.GetName())
			if regexp.MustCompile("^hpad_").MatchString(family.GetName()) && !slices.Contains(documented, family.GetName()) {
				t.Errorf("docs/metrics.md does not name %s", family.GetName())
			}
		}
		for _, d := range documented {
			if !slices.Contains(served, d) {
				t.Errorf("docs/metrics.md names %s, which there is not", d)
			}
		}
	})
}
