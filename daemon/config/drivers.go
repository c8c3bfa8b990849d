package config

import (
	"maps"
	"slices"

	"github.com/hpad/hpad/internal/options"
)

// family are the sources or the targets of a configuration.
type family struct {
	// kind is the word for one of them.
	kind string
	// known are the names of the drivers there are; nil if any name may be one.
	known []string
	// names are those of all tables, the broken ones included.
	names   []string
	drivers []Driver
}

// read makes the [sources.NAME] or [targets.NAME] tables.
func (f *family) read(l *loader, p position, tables map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		place := p.below(f.kind + "s").below(options.Quote(name)).named(f.kind + " " + quoted(name))
		s := l.scope(place)
		f.names = append(f.names, name)
		values, ok := tables[name].(map[string]any)
		if !ok {
			s.failf("", "must be a table, is %s: write [%ss.%s]", options.Show(tables[name]), f.kind, options.Quote(name))
			continue
		}
		if !namePattern.MatchString(name) {
			s.failf("", "a name is %s, is %q", nameRule, name)
		}
		driver, ok := driverName(s, values, f.known)
		table := &Table{position: place, values: without(values, "driver")}
		refuseSecrets(s, "", table.values)
		if ok {
			f.drivers = append(f.drivers, Driver{Name: name, Driver: driver, Options: table})
		}
	}
}

func driverName(s *scope, values map[string]any, known []string) (string, bool) {
	x, given := values["driver"]
	driver, ok := x.(string)
	switch {
	case !given || driver == "" && ok:
		s.failf("driver", "is required%s", knownAre(known))
	case !ok:
		s.failf("driver", "must be a string, is %s", options.Show(x))
	case known != nil && !slices.Contains(known, driver):
		s.failf("driver", "unknown driver %q%s", driver, suggestion(driver, known))
	default:
		return driver, true
	}
	return "", false
}

// use finds the table a workload names at key, or makes the one it implies by naming a driver.
func (f *family) use(s *scope, key, name string) {
	if slices.Contains(f.names, name) {
		return
	}
	if f.known != nil && !slices.Contains(f.known, name) {
		words := slices.Concat(f.known, f.names)
		slices.Sort(words)
		s.failf(key, "unknown %s %q%s", f.kind, name, suggestion(name, slices.Compact(words)))
		return
	}
	place := s.position
	place.path, place.lines = "", &lines{all: s.line(key)}
	table := &Table{position: place.named(f.kind + " " + quoted(name)), values: map[string]any{}}
	f.names = append(f.names, name)
	f.drivers = append(f.drivers, Driver{Name: name, Driver: name, Implied: true, Options: table})
}
