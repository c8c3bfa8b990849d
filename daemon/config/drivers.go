package config

import (
	"maps"
	"slices"

	"github.com/hpad/hpad/internal/options"
)

// drivers makes the [sources.NAME] or [targets.NAME] tables.
func (l *loader) drivers(p position, kind string, known []string, tables map[string]any) []Driver {
	var all []Driver
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		place := p.below(kind + "s").below(options.Quote(name)).named(kind + " " + quoted(name))
		s := l.scope(place)
		values, ok := tables[name].(map[string]any)
		if !ok {
			s.failf("", "must be a table, is %s: write [%ss.%s]", options.Show(tables[name]), kind, options.Quote(name))
			continue
		}
		if !namePattern.MatchString(name) {
			s.failf("", "a name is %s, is %q", nameRule, name)
		}
		driver := driverName(s, values, known)
		table := &Table{position: place, values: without(values, "driver")}
		refuseSecrets(s, "", table.values)
		all = append(all, Driver{Name: name, Driver: driver, Options: table})
	}
	return all
}

func driverName(s *scope, values map[string]any, known []string) string {
	x, given := values["driver"]
	driver, ok := x.(string)
	switch {
	case !given || driver == "" && ok:
		s.failf("driver", "is required%s", knownAre(known))
	case !ok:
		s.failf("driver", "must be a string, is %s", options.Show(x))
	case known != nil && !slices.Contains(known, driver):
		s.failf("driver", "unknown driver %q%s", driver, suggestion(driver, known))
	}
	return driver
}

// implied finds the table a workload names, or makes the one it implies by naming a driver.
func implied(s *scope, key, kind, name string, drivers []Driver, known []string) []Driver {
	names := slices.Clone(known)
	for _, d := range drivers {
		if d.Name == name {
			return drivers
		}
		names = append(names, d.Name)
	}
	slices.Sort(names)
	switch {
	case name == "":
		return drivers
	case known != nil && !slices.Contains(known, name):
		s.failf(key, "unknown %s %q%s", kind, name, suggestion(name, slices.Compact(names)))
		return drivers
	}
	place := s.position
	place.lines = &lines{all: s.line(key)}
	table := &Table{position: place.named(kind + " " + quoted(name)), values: map[string]any{}}
	return append(drivers, Driver{Name: name, Driver: name, Implied: true, Options: table})
}
