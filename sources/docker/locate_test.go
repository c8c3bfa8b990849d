package docker

import (
	"strings"
	"testing"
)

func FuzzIDOf(f *testing.F) {
	f.Add("docker-" + id("a") + ".scope")
	f.Add("libpod-conmon-" + id("a") + ".scope")
	f.Fuzz(func(t *testing.T, name string) {
		if got, ok := idOf(name); ok && (len(got) != idLength || !strings.Contains(name, got)) {
			t.Errorf("%q has the id %q", name, got)
		}
	})
}
