package daemon

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// maxDeadline bounds how long one evaluation observes, and how long it writes; a shorter sync
// period bounds both further.
const maxDeadline = 10 * time.Second

// evaluation is one pass over one workload: observe, decide, apply, record.
type evaluation struct {
	workload *workload
	bound    *binding
	round    *round
	// at is the time of everything in the evaluation.
	at       time.Time
	deadline time.Duration
	metrics  *daemonMetrics
	store    *store

	status      targets.Status
	observation algorithm.Observation
	// remarks are the sources' warnings, parallel to the metrics.
	remarks [][]string

	decision algorithm.Decision
	// state is that after the decision, and after it was applied.
	state algorithm.State
	wrote outcome
	// err is why the change was not made, if one was wanted and failed.
	err error
	// intended is true if the change was announced to the store.
	intended bool
}

// outcome is what became of the change a decision wanted.
type outcome uint8

const (
	// unchanged: no change was wanted.
	unchanged outcome = iota
	changed
	// held: the target does not take the change now.
	held
	// dry: the workload only watches.
	dry
	failed
)

// run evaluates the workload. Nothing is recorded if ctx ends before the decision is applied.
func (e *evaluation) run(ctx context.Context) {
	began := time.Now()
	e.followClock()
	e.state = e.workload.history.state
	err := guarded(func() error { return e.pass(ctx) })
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		e.recordPanic(panicked)
	case err != nil:
		return
	default:
		e.record()
	}
	e.metrics.evaluationDuration.Observe(time.Since(began).Seconds())
}

// pass returns an error only if the evaluation was interrupted.
func (e *evaluation) pass(ctx context.Context) error {
	if err := e.decide(ctx); err != nil {
		return err
	}
	if e.decision.Rescale {
		// What was decided is carried out even if the daemon is told to stop meanwhile.
		e.apply(context.WithoutCancel(ctx))
	}
	return nil
}

// decide observes and decides, from the state that was before this evaluation.
func (e *evaluation) decide(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	e.readTarget(within)
	before := e.before()
	spec := &e.bound.config.Spec
	if e.observation.TargetErr == nil && e.needsMetrics(before) {
		e.readMetrics(within)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e.decision, e.state = algorithm.Decide(e.at, spec, before, &e.observation)
	return nil
}

// needsMetrics tells whether the decision depends on the metrics. A target outside of min..max, or
// one that was set to 0 by hand, is decided upon without them.
func (e *evaluation) needsMetrics(before algorithm.State) bool {
	spec := &e.bound.config.Spec
	n := e.observation.SpecReplicas
	if n > 0 && n >= spec.MinReplicas && n <= spec.MaxReplicas {
		return true
	}
	d, _ := algorithm.Decide(e.at, spec, before, &e.observation)
	return d.Path == algorithm.PathMetrics
}

// panicError is a panic of a driver, or of the evaluation itself, as an error.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// guarded calls f and returns its error, or its panic as one.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return f()
}
