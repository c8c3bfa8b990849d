// Package exec is the target driver "exec": a command of the operator's reads the status and sets
// the replicas of whatever has no driver of its own. What it is told and must answer is
// docs/contract-json.md; package jsontarget speaks it, this one runs the command.
package exec

import (
	"context"

	"github.com/hpad/hpad/internal/command"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/jsontarget"
)

// Driver returns the driver "exec".
func Driver() targets.Driver {
	return targets.Driver{
		Name:          "exec",
		Open:          open,
		KnowsRequests: true,
		Resource:      targets.ResourceSource{Driver: "process"},
	}
}

// connectionOptions is the table [targets.NAME].
type connectionOptions struct {
	command.Options
}

func defaults() connectionOptions { return connectionOptions{command.Defaults()} }

func open(_ targets.Environment, table options.Table) (targets.Connection, error) {
	o := defaults()
	if err := table.Decode(&o); err != nil {
		return nil, err
	}
	c, err := command.New(o.Options, table.Dir())
	if err != nil {
		return nil, err
	}
	return &connection{command: c}, nil
}

// connection is one command. It implements jsontarget.Carrier.
type connection struct{ command *command.Command }

// Bind reads the table of a workload's target.
func (c *connection) Bind(table options.Table) (targets.Target, error) {
	return jsontarget.Bind(c, table)
}

// Close has nothing to release: every run ends with the call that began it.
func (c *connection) Close() error { return nil }

// Namespace is the same for tables that mean the same command.
func (c *connection) Namespace() string { return "exec:" + c.command.Fingerprint() }

// Carry runs the command once.
func (c *connection) Carry(ctx context.Context, r *jsontarget.Request) (*jsontarget.Status, error) {
	answer, err := c.command.Run(ctx, command.Call{Input: r.JSON(), Env: r.Variables()})
	if err != nil {
		return nil, unanswered(r, err)
	}
	if answer.Code != 0 {
		return nil, c.refused(r, answer)
	}
	if r.Writes() && len(answer.Output) == 0 {
		return nil, nil
	}
	status, refusal, err := jsontarget.Decode(r, answer.Output)
	switch {
	case refusal != nil:
		return nil, refusal
	case err != nil:
		return nil, targets.Errorf(orUncertain(r, targets.Unavailable), "command %s: %w", c.command, err)
	}
	return status, nil
}
