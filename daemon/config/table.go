package config

import (
	"slices"

	"github.com/hpad/hpad/internal/options"
)

// Table is a table of the configuration that a driver decodes; it implements options.Table.
type Table struct {
	position position
	values   map[string]any
}

var _ options.Table = (*Table)(nil)

// Decode reads the table as options.Decode does.
func (t *Table) Decode(v any) error { return options.Decode(t.position.dir, t.values, v) }

// Dir is the absolute folder of the file the table stands in.
func (t *Table) Dir() string { return t.position.dir }

// Problems locates what a driver found wrong with the table: option errors (package options), and
// other errors as being about the whole table.
func (t *Table) Problems(err error) Problems { return t.position.problems(err) }

// Only returns the table with none but the given keys.
func (t *Table) Only(keys ...string) *Table {
	some := &Table{position: t.position, values: map[string]any{}}
	for key, value := range t.values {
		if slices.Contains(keys, key) {
			some.values[key] = value
		}
	}
	return some
}

// Fingerprint is equal for tables that say the same, comments and layout aside.
func (t *Table) Fingerprint() string { return fingerprint(t.position.dir, t.values) }
