package config

// Table is a table of the configuration that a driver decodes; it implements options.Table.
type Table struct {
	position position
	where    string
	values   map[string]any
}
