package targettest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hpad/hpad/targets"
)

// watchedTarget checks what holds for every answer of a target, whatever the promise under test.
type watchedTarget struct {
	targets.Target
	secrets []string

	mu       sync.Mutex
	problems []error
}

func (w *watchedTarget) Status(ctx context.Context) (targets.Status, error) {
	status, err := w.Target.Status(ctx)
	if err != nil {
		w.note(w.wrongError("Status", err))
	} else {
		w.note(wrongStatus(status))
	}
	return status, err
}

func (w *watchedTarget) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	err := w.Target.SetReplicas(ctx, from, replicas)
	if err != nil {
		w.note(w.wrongError("SetReplicas", err))
	}
	return err
}

func (w *watchedTarget) note(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, err)
}

func (w *watchedTarget) broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.problems...)
}

// wrongError says what is wrong with an error: no class, no text, or a secret in it.
func (w *watchedTarget) wrongError(method string, err error) error {
	for _, secret := range w.secrets {
		if strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
			return fmt.Errorf("an error of %s holds a secret: %q", method, strings.ReplaceAll(err.Error(), secret, "SECRET"))
		}
	}
	var classed *targets.Error
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if !errors.As(err, &classed) && !ended {
		return fmt.Errorf("the error %q of %s has no class", err, method)
	}
	if strings.TrimSpace(err.Error()) == "" {
		return fmt.Errorf("an error of %s has no text", method)
	}
	return nil
}

// wrongStatus says what no Status may be.
func wrongStatus(status targets.Status) error {
	if status.SpecReplicas < 0 || status.StatusReplicas < 0 {
		return fmt.Errorf("Status reports %d spec and %d status replicas", status.SpecReplicas, status.StatusReplicas)
	}
	seen := map[string]bool{}
	for i := range status.Instances {
		if err := wrongInstance(&status.Instances[i], seen); err != nil {
			return err
		}
	}
	for _, block := range status.Blocks {
		if block.Reason == "" || block.Message == "" || !block.Up && !block.Down {
			return fmt.Errorf("the block %+v lacks a reason, a message or a direction", block)
		}
	}
	return nil
}

func wrongInstance(instance *targets.Instance, seen map[string]bool) error {
	if instance.ID == "" {
		return errors.New("an instance has no ID")
	}
	if seen[instance.ID] {
		return fmt.Errorf("two instances have the ID %q", instance.ID)
	}
	seen[instance.ID] = true
	names := map[string]bool{}
	for _, name := range instance.Identifiers {
		if name == "" || names[name] {
			return fmt.Errorf("the identifiers of instance %q hold %q twice, or an empty one", instance.ID, name)
		}
		names[name] = true
	}
	if !names[instance.ID] {
		return fmt.Errorf("the identifiers of instance %q do not hold its ID", instance.ID)
	}
	return nil
}
