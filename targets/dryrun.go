package targets

import (
	"context"
	"errors"
)

// ErrDryRun is what SetReplicas of a dry-run Target returns: nothing was written, on purpose.
var ErrDryRun = errors.New("dry run: not written")

// DryRun returns a Target that reads through t and drops every write.
func DryRun(t Target) Target { return dryRun{t} }

type dryRun struct{ Target }

func (dryRun) SetReplicas(context.Context, Status, int32) error { return ErrDryRun }
