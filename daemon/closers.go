package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// closers is a stack of named steps that undo a start, the last one first.
type closers struct {
	steps []closeStep
}

type closeStep struct {
	name  string
	close func(context.Context) error
}

func (c *closers) push(name string, step func(context.Context) error) {
	c.steps = append(c.steps, closeStep{name, step})
}

// run does all steps, each to its end or until ctx ends, and joins their errors. A step that does
// not return is left behind, so that it cannot keep the others from being done.
func (c *closers) run(ctx context.Context) error {
	var errs []error
	for i := len(c.steps) - 1; i >= 0; i-- {
		step := c.steps[i]
		if err := bounded(ctx, step.close); err != nil {
			errs = append(errs, fmt.Errorf("cannot stop %s: %w", step.name, err))
		}
	}
	c.steps = nil
	return errors.Join(errs...)
}

// grace is what a step gets that begins when the time of all is over already.
const grace = 500 * time.Millisecond

// bounded runs f and returns its error, or ctx's if f does not return until ctx has ended and grace
// is over.
func bounded(ctx context.Context, f func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return context.Cause(ctx)
	}
}
