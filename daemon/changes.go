package daemon

import (
	"fmt"
	"strings"

	"github.com/hpad/hpad/daemon/config"
)

// Changes are what a reload changed, names in the order of the configuration.
type Changes struct {
	// Added, Changed and Removed are names of workloads. A workload has changed if its table, its
	// target or one of its sources did.
	Added, Changed, Removed []string
	// TakeRestart are the keys that differ from what the daemon was started with, and that only a
	// restart puts in force.
	TakeRestart []string
}

func changesOf(old, set *Set, started config.Daemon) Changes {
	var c Changes
	for _, b := range set.bindings {
		switch name := b.config.Name; old.binding(name) {
		case nil:
			c.Added = append(c.Added, name)
		case b:
		default:
			c.Changed = append(c.Changed, name)
		}
	}
	for _, b := range old.bindings {
		if set.binding(b.config.Name) == nil {
			c.Removed = append(c.Removed, b.config.Name)
		}
	}
	now := set.cfg.Daemon
	for _, setting := range []struct{ key, started, now string }{
		{"daemon.listen", started.Listen, now.Listen},
		{"daemon.web_config_file", started.WebConfigFile, now.WebConfigFile},
		{"daemon.socket", started.Socket, now.Socket},
		{"daemon.state_dir", started.StateDir, now.StateDir},
	} {
		if setting.started != setting.now {
			c.TakeRestart = append(c.TakeRestart, setting.key)
		}
	}
	return c
}

// maxNamed is how many workloads are named one by one.
const maxNamed = 5

// facts are what a log line says of the changes.
func (c *Changes) facts(workloads int) []any {
	facts := []any{"workloads", workloads, "added", len(c.Added), "changed", len(c.Changed), "removed", len(c.Removed)}
	for _, one := range c.lists() {
		if len(one.names) > 0 {
			facts = append(facts, one.what+"_names", few(one.names))
		}
	}
	return facts
}

// String is for people: what changed, and a line for each setting that takes a restart.
func (c *Changes) String() string {
	var parts []string
	for _, one := range c.lists() {
		if len(one.names) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", len(one.names), one.what, few(one.names)))
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "no workload changed"
	}
	for _, key := range c.TakeRestart {
		text += "\nwarning: " + key + " changed, which takes a restart"
	}
	return text
}

type namedList struct {
	what  string
	names []string
}

func (c *Changes) lists() []namedList {
	return []namedList{{"added", c.Added}, {"changed", c.Changed}, {"removed", c.Removed}}
}

// few are the first names.
func few(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}
