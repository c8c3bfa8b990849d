package targettest

import (
	"context"
	"errors"

	"github.com/hpad/hpad/targets"
)

func onceEach(fake *Fake, make func(*Fake) *bend) func() *bend {
	return func() *bend { return make(fake) }
}

func nothing(context.Context, targets.Target, targets.Status, int32) error { return nil }

// stale is a driver that remembers its first answer for ever.
func stale(fake *Fake) *bend {
	first, _ := fake.status()
	return &bend{status: func(ctx context.Context, t targets.Target) (targets.Status, error) {
		now, err := t.Status(ctx)
		now.SpecReplicas = first.SpecReplicas
		return now, err
	}}
}

// errorOf is a driver whose SetReplicas fails in one way.
func errorOf(class targets.Class, text string) func(*Fake) *bend {
	return func(*Fake) *bend {
		return &bend{set: func(context.Context, targets.Target, targets.Status, int32) error {
			return targets.Errorf(class, "%s", text)
		}}
	}
}

// unclassed is a driver that forgets to say what kind of error it has.
func unclassed(*Fake) *bend {
	return &bend{set: func(context.Context, targets.Target, targets.Status, int32) error {
		return errors.New("something is wrong")
	}}
}

// replacing is a driver that grows by starting everything anew.
func replacing(fake *Fake) *bend {
	return &bend{set: func(_ context.Context, _ targets.Target, _ targets.Status, replicas int32) error {
		fake.Change(0)
		fake.Change(replicas)
		return nil
	}}
}

// deaf is a driver that does not listen to its context.
func deaf(*Fake) *bend {
	return &bend{status: func(ctx context.Context, t targets.Target) (targets.Status, error) {
		return t.Status(context.WithoutCancel(ctx))
	}}
}

// stopping is a driver that stops what runs when a target is closed.
func stopping(fake *Fake) *bend {
	return &bend{close: func() error {
		fake.Change(0)
		return nil
	}}
}

// closesOnce is a driver that cannot be closed again.
func closesOnce(*Fake) *bend {
	closed := false
	return &bend{close: func() error {
		if closed {
			return errors.New("closed already")
		}
		closed = true
		return nil
	}}
}
