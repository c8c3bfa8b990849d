// Package targettest holds the kit that every driver of a target passes, a target in memory, and
// a proxy for drivers that speak HTTP.
//
// A driver's test gives Run a Harness: how to make a target on the platform, and how to look at it
// and change it past the driver. Every promise of the contract (package targets) is then checked
// on a target of its own:
//
//	func TestContract(t *testing.T) {
//		targettest.Run(t, targettest.Harness{New: newSubject})
//	}
//
// The promises are checks that return an error, so that a driver in a process of its own is held
// to the same ones, and so that the kit itself is tested with drivers that break them.
package targettest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// Harness says how a driver is tested.
type Harness struct {
	// New makes a target with that many replicas on the platform. What it makes, it removes with
	// t.Cleanup. It need not wait for the instances.
	New func(t *testing.T, replicas int32) *Subject
	// Settle bounds how long the platform may take for any one change; 30 s if zero.
	Settle time.Duration
	// RefusesZero is true for a platform that cannot have no instance at all.
	RefusesZero bool
}

// Subject is one target of the platform, with a connection to it. Every function that is nil skips
// the promises that need it; the driver's own tests then say why.
type Subject struct {
	// Connection is closed by the kit.
	Connection targets.Connection
	// Tables all mean the target, written in different ways; Other means another target.
	Tables []options.Table
	Other  options.Table

	// Spec is the wanted count that the platform itself reports.
	Spec func() int32
	// Change sets the wanted count as somebody else would.
	Change func(replicas int32)
	// Remove removes the target from the platform, Restore makes it again, with one replica.
	Remove, Restore func()
	// Writes counts the requests to change something that have reached the platform.
	Writes func() int
	// Hang makes the platform receive requests and answer none, until release is called, which may
	// happen more than once.
	Hang func() (release func())
	// Busy makes the platform so that the target must not be changed, until end is called.
	Busy func() (end func())
	// Secrets must not be in any error.
	Secrets []string

	settle      time.Duration
	refusesZero bool
	// ownRun is true for a target that hpad itself runs: no second Target can speak for it.
	ownRun bool
}

// promise is one thing every driver keeps.
type promise struct {
	name string
	// needs is what of the Subject the check cannot do without.
	needs func(*Subject) bool
	check func(context.Context, *Subject, targets.Target) error
}

// Run checks every promise of the contract.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, p := range promises() {
		t.Run(p.name, func(t *testing.T) {
			s := h.subject(t)
			if p.needs != nil && !p.needs(s) {
				_ = s.Connection.Close()
				t.Skip("the harness cannot bring this about")
			}
			if err := s.examine(t.Context(), p); err != nil {
				t.Error(err)
			}
		})
	}
}

func promises() []promise {
	var all []promise
	all = append(all, statusPromises()...)
	all = append(all, replicasPromises()...)
	all = append(all, conflictPromises()...)
	all = append(all, cancelPromises()...)
	all = append(all, identityPromises()...)
	return all
}

// startReplicas is the count that every check begins with.
const startReplicas = 2

func (h Harness) subject(t *testing.T) *Subject {
	t.Helper()
	s := h.New(t, startReplicas)
	s.refusesZero = h.RefusesZero
	s.settle = h.Settle
	if s.settle == 0 {
		s.settle = 30 * time.Second
	}
	return s
}

// examine binds the target, checks the promise, and closes everything twice where that is allowed.
func (s *Subject) examine(ctx context.Context, p promise) error {
	target, err := s.Connection.Bind(s.Tables[0])
	if err != nil {
		return errors.Join(fmt.Errorf("Bind: %w", err), s.Connection.Close())
	}
	err = s.checkBound(ctx, p, target)
	for _, attempt := range []string{"first", "second"} {
		if e := target.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("the %s Close: %w", attempt, e))
		}
	}
	return errors.Join(err, s.Connection.Close())
}

func (s *Subject) checkBound(ctx context.Context, p promise, target targets.Target) error {
	if own, ok := target.(targets.Activator); ok {
		s.ownRun = true
		if err := own.Activate(ctx); err != nil {
			return fmt.Errorf("Activate: %w", err)
		}
	}
	watched := &watchedTarget{Target: target, secrets: s.Secrets}
	err := p.check(ctx, s, watched)
	return errors.Join(err, watched.broken())
}

// twin binds a second Target of the same thing; for a thing that hpad itself runs it is the same
// Target, which Close must then leave alone.
func (s *Subject) twin(target targets.Target) (targets.Target, error) {
	if s.ownRun {
		return sameTarget{target}, nil
	}
	twin, err := s.Connection.Bind(s.Tables[0])
	if err != nil {
		return nil, fmt.Errorf("Bind: %w", err)
	}
	return twin, nil
}

type sameTarget struct{ targets.Target }

func (sameTarget) Close() error { return nil }

// eventually polls until check returns nil or the platform has had its time.
func (s *Subject) eventually(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, s.settle)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %v: %w", s.settle, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// nothingWritten runs do and checks that no request for a change has reached the platform.
func (s *Subject) nothingWritten(do func() error) error {
	spec, writes := s.Spec(), s.writes()
	err := do()
	if n := s.writes() - writes; n != 0 {
		err = errors.Join(err, fmt.Errorf("%d writes reached the platform, want none", n))
	}
	if now := s.Spec(); now != spec {
		err = errors.Join(err, fmt.Errorf("the platform wants %d replicas, want %d as before", now, spec))
	}
	return err
}

func (s *Subject) writes() int {
	if s.Writes == nil {
		return 0
	}
	return s.Writes()
}

// wantClass checks the class of an error of a target.
func wantClass(err error, mutating bool, want targets.Class) error {
	if err == nil {
		return fmt.Errorf("no error, want one of class %v", want)
	}
	if got := targets.ClassOf(err, mutating); got != want {
		return fmt.Errorf("the class of %q is %v, want %v", err, got, want)
	}
	return nil
}
