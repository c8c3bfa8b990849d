package targets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// Registry is the hand-written list of the drivers a program has.
type Registry []Driver

// Names returns the names of the drivers, sorted.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, d := range r {
		names[i] = d.Name
	}
	slices.Sort(names)
	return names
}

// Find returns the driver of that name.
func (r Registry) Find(name string) (Driver, bool) {
	i := slices.IndexFunc(r, func(d Driver) bool { return d.Name == name })
	if i < 0 {
		return Driver{}, false
	}
	return r[i], true
}

// Open opens a [targets.NAME] table with the driver of that name. An unknown name is an error of
// the table's key "driver" (package options) that says which there are and which was meant.
func (r Registry) Open(name string, env Environment, table options.Table) (Connection, error) {
	driver, ok := r.Find(name)
	if !ok {
		return nil, options.Errorf("driver", "%s", r.unknown(name))
	}
	return driver.Open(env, table)
}

func (r Registry) unknown(name string) string {
	names := r.Names()
	message := fmt.Sprintf("there is no target driver %q", name)
	if meant := options.Closest(name, names); meant != "" {
		message += fmt.Sprintf(", did you mean %q?", meant)
	}
	return message + fmt.Sprintf(" (known: %s)", strings.Join(names, ", "))
}
