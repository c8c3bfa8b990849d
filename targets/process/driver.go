// Package process is the target driver "process": hpad itself starts a command as often as wanted
// and keeps it running. It needs nothing installed.
//
// The pieces, from the outside in: a connection owns the one thread that starts processes
// (starter); a target holds the wanted count and one supervisor per instance; an instance
// (instance.go) starts its process, waits for its end, backs off and starts it again until it is
// told to stop; its output goes line by line to the log (output.go), or elsewhere (outlet.go).
//
// Nothing outlives hpad: Close stops every instance, and if hpad is killed the kernel kills the
// instances (see sys_linux.go for what that covers).
package process

import (
	"log/slog"
	"os"
	"slices"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// Driver is the driver "process".
func Driver() targets.Driver {
	return targets.Driver{
		Name:     "process",
		Open:     open,
		Resource: targets.ResourceSource{Driver: "process"},
	}
}

// connection is one [targets.NAME] table, which has no keys.
type connection struct {
	log     *slog.Logger
	starter *starter
	// hosts are the names under which this machine's ports may be known.
	hosts []string
}

func open(env targets.Environment, table options.Table) (targets.Connection, error) {
	if !supported {
		return nil, options.Errorf("driver", "the process driver needs Linux")
	}
	if err := table.Decode(&struct{}{}); err != nil {
		return nil, err
	}
	hosts := []string{"127.0.0.1", "localhost"}
	if name, err := os.Hostname(); err == nil && !slices.Contains(hosts, name) {
		hosts = append(hosts, name)
	}
	return &connection{log: env.Log, starter: newStarter(), hosts: hosts}, nil
}

// Bind checks the table and resolves the program and the user. It starts nothing.
func (c *connection) Bind(table options.Table) (targets.Target, error) {
	set, err := read(table)
	if err != nil {
		return nil, err
	}
	return newTarget(c, set), nil
}

// Close ends the thread that starts processes. By then all of them have ended.
func (c *connection) Close() error {
	c.starter.close()
	return nil
}
