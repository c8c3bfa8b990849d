package options

// NewTable makes a Table of values as a TOML or JSON library decodes them, for tables that do not
// stand in a file of their own: what a plugin is sent, what a test says. Paths are relative to dir.
func NewTable(dir string, values map[string]any) Table {
	return plainTable{dir: dir, values: values}
}

type plainTable struct {
	dir    string
	values map[string]any
}

func (t plainTable) Decode(v any) error { return Decode(t.dir, t.values, v) }

func (t plainTable) Dir() string { return t.dir }
