package daemon

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

const (
	// maxTries is how often a change is tried while somebody else changes the target.
	maxTries = 3
	// tryPause is the mean pause before the target is read again after a conflict.
	tryPause = 20 * time.Millisecond
)

// apply makes the change the decision wants, unless the target must wait. After a conflict it
// reads and decides again, from the state before and with the time of this evaluation, so that the
// recommendation is recorded once.
func (e *evaluation) apply(ctx context.Context) {
	for try := 1; ; try++ {
		e.write(ctx)
		if e.wrote != failed || targets.ClassOf(e.err, true) != targets.Conflict || try == maxTries {
			break
		}
		time.Sleep(tryPause/2 + rand.N(tryPause))
		e.wrote, e.err = unchanged, nil
		if err := e.decide(ctx); err != nil || !e.decision.Rescale {
			return
		}
	}
	switch e.wrote {
	case changed:
		e.state = algorithm.Applied(e.at, &e.bound.config.Spec, &e.decision, e.state, nil)
	case failed:
		e.state = algorithm.Applied(e.at, &e.bound.config.Spec, &e.decision, e.state, e.err)
	}
}

// write asks the target once for the desired replicas and settles what became of it.
func (e *evaluation) write(ctx context.Context) {
	if block := e.status.Blocked(e.decision.Desired); block != nil {
		e.wrote, e.err = held, &heldError{block.Reason, block.Message}
		return
	}
	e.announce()
	within, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	calls := e.bound.connection.calls
	err := calls.setReplicas(within, e.bound.scale, e.status, e.decision.Desired)
	switch {
	case err == nil:
		e.wrote = changed
	case errors.Is(err, targets.ErrDryRun):
		e.wrote = dry
	case isHold(targets.ClassOf(err, true)):
		e.wrote, e.err = held, &heldError{camel(targets.ClassOf(err, true).String()), err.Error()}
	case targets.ClassOf(err, true) == targets.Uncertain && e.reads(ctx, e.decision.Desired):
		e.wrote = changed
	default:
		e.wrote, e.err = failed, err
	}
}

// reads tells whether the target says that n replicas are wanted.
func (e *evaluation) reads(ctx context.Context, n int32) bool {
	within, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	status, err := e.bound.connection.calls.status(within, e.bound.target)
	return err == nil && status.SpecReplicas == n
}

func isHold(c targets.Class) bool { return c == targets.Busy || c == targets.Blocked }

// heldError says why the target must wait.
type heldError struct{ reason, message string }

func (e *heldError) Error() string { return e.message }
