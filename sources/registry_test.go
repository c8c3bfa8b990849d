package sources_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
)

func TestDriversAreFoundByName(t *testing.T) {
	fake := &sourcetest.Fake{}
	registry := sources.Registry{fake.Driver("scrape"), (&sourcetest.Fake{}).Driver("prometheus")}
	if diff := cmp.Diff([]string{"prometheus", "scrape"}, registry.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	opened, err := registry.Open("scrape", sources.Environment{}, options.NewTable("/", nil))
	if opened != fake || err != nil {
		t.Errorf("opened %v, %v, want the source of that driver", opened, err)
	}
}

func TestUnknownDriverIsNamedWithTheKnown(t *testing.T) {
	registry := sources.Registry{(&sourcetest.Fake{}).Driver("scrape"), (&sourcetest.Fake{}).Driver("prometheus")}
	_, err := registry.Open("Promtheus", sources.Environment{}, options.NewTable("/", nil))
	key, message := options.Key(err)
	want := `there is no source driver "Promtheus", did you mean "prometheus"? (known: prometheus, scrape)`
	if key != "driver" || message != want {
		t.Errorf("error is %q: %s\nwant %q: %s", key, message, "driver", want)
	}
	if _, err := registry.Open("x", sources.Environment{}, options.NewTable("/", nil)); strings.Contains(err.Error(), "mean") {
		t.Errorf("error guesses wildly: %v", err)
	}
}
