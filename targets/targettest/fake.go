package targettest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// Fake is a target in memory. Its instances take the time they are told to become ready and to go;
// it can be slow, fail, be busy, be changed by others and vanish. It uses the clock of package
// time, hence works inside a synctest bubble. Its methods are safe for concurrent use.
type Fake struct {
	name string

	mu                  sync.Mutex
	spec                int32
	version             int
	made                int // counts the instances there ever were
	instances           []*fakeInstance
	readyAfter, gone    time.Duration
	requests            []algorithm.Request
	missing             bool
	blocks              []targets.Block
	warnings            []string
	statusErr, setErr   error
	statusWait, setWait time.Duration
	loseAnswers         bool
	hang                chan struct{}
	reads               int
	writes              []Write
}

// Write is a change that a Fake has made because SetReplicas asked for it.
type Write struct {
	Time     time.Time
	From, To int32
}

// NewFake makes a target whose instances are ready already.
func NewFake(name string, replicas int32) *Fake {
	f := &Fake{name: name, spec: replicas, version: 1}
	f.resize(time.Now())
	return f
}

// Target returns a targets.Target for the Fake; all of them speak for the same one.
func (f *Fake) Target() targets.Target { return fakeTarget{f} }

// InstancesTake sets how long instances made from now on need to become ready, and removed ones to
// disappear; both are 0 at first.
func (f *Fake) InstancesTake(ready, gone time.Duration) {
	f.edit(func() { f.readyAfter, f.gone = ready, gone })
}

// Request sets what every instance requests.
func (f *Fake) Request(requests ...algorithm.Request) { f.edit(func() { f.requests = requests }) }

// Change sets the wanted count as somebody else would: it counts as a change since any Status read
// before, and not as a write.
func (f *Fake) Change(replicas int32) { f.edit(func() { f.change(replicas) }) }

// Remove makes the target one that does not exist; Restore makes it again with that count.
func (f *Fake) Remove() { f.edit(func() { f.missing = true; f.change(0); f.instances = nil }) }

// Restore undoes Remove.
func (f *Fake) Restore(replicas int32) { f.edit(func() { f.missing = false; f.change(replicas) }) }

// Block sets the blocks that Status reports. SetReplicas refuses what they block with Busy.
func (f *Fake) Block(blocks ...targets.Block) { f.edit(func() { f.blocks = blocks }) }

// Warn sets the warnings that Status reports.
func (f *Fake) Warn(warnings ...string) { f.edit(func() { f.warnings = warnings }) }

// FailStatus makes Status fail until it is called with nil.
func (f *Fake) FailStatus(err error) { f.edit(func() { f.statusErr = err }) }

// FailSet makes SetReplicas fail, having written nothing, until it is called with nil.
func (f *Fake) FailSet(err error) { f.edit(func() { f.setErr = err }) }

// LoseAnswers makes SetReplicas write and then fail with Uncertain.
func (f *Fake) LoseAnswers(lose bool) { f.edit(func() { f.loseAnswers = lose }) }

// Delay makes every Status and every SetReplicas take that long, before they look at anything.
func (f *Fake) Delay(status, set time.Duration) {
	f.edit(func() { f.statusWait, f.setWait = status, set })
}

// Hang makes every call wait until release, which may be called more than once.
func (f *Fake) Hang() (release func()) {
	hang := make(chan struct{})
	f.edit(func() { f.hang = hang })
	return sync.OnceFunc(func() {
		f.edit(func() { f.hang = nil })
		close(hang)
	})
}

// Replicas is the wanted count.
func (f *Fake) Replicas() (n int32) {
	f.edit(func() { n = f.spec })
	return n
}

// Reads counts the calls of Status.
func (f *Fake) Reads() (n int) {
	f.edit(func() { n = f.reads })
	return n
}

// Writes returns the writes so far, in their order.
func (f *Fake) Writes() (w []Write) {
	f.edit(func() { w = slices.Clone(f.writes) })
	return w
}

func (f *Fake) edit(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *Fake) change(replicas int32) {
	f.spec = replicas
	f.version++
	f.resize(time.Now().Add(f.readyAfter))
}

func (f *Fake) status() (targets.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if err := f.refuse(f.statusErr); err != nil {
		return targets.Status{}, err
	}
	f.sweep()
	status := targets.Status{
		SpecReplicas: f.spec,
		Version:      strconv.Itoa(f.version),
		Blocks:       slices.Clone(f.blocks),
		Warnings:     slices.Clone(f.warnings),
	}
	for _, instance := range f.instances {
		status.Instances = append(status.Instances, instance.at(time.Now(), f.requests))
		if instance.removed.IsZero() {
			status.StatusReplicas++
		}
	}
	return status, nil
}

func (f *Fake) set(from targets.Status, replicas int32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refuse(f.setErr); err != nil {
		return err
	}
	switch now := (&targets.Status{SpecReplicas: f.spec, Blocks: f.blocks}); {
	case replicas < 0:
		return targets.Errorf(targets.Invalid, "cannot set %q to %d replicas", f.name, replicas)
	case replicas == f.spec:
		return nil
	case from.Version != strconv.Itoa(f.version):
		return targets.Errorf(targets.Conflict, "cannot set %q: it was changed since it was read", f.name)
	case now.Blocked(replicas) != nil:
		return targets.Errorf(targets.Busy, "cannot set %q: %s", f.name, now.Blocked(replicas).Message)
	}
	f.writes = append(f.writes, Write{Time: time.Now(), From: f.spec, To: replicas})
	f.change(replicas)
	if f.loseAnswers {
		return targets.Errorf(targets.Uncertain, "cannot tell whether %q was set: the answer was lost", f.name)
	}
	return nil
}

func (f *Fake) refuse(fault error) error {
	if fault == nil && f.missing {
		return targets.Errorf(targets.NotFound, "there is no target %q", f.name)
	}
	return fault
}

// wait takes the time that was asked for.
func (f *Fake) wait(ctx context.Context, mutating bool) error {
	f.mu.Lock()
	wait, hang := f.statusWait, f.hang
	if mutating {
		wait = f.setWait
	}
	f.mu.Unlock()
	if hang == nil {
		open := make(chan struct{})
		close(open)
		hang = open
	}
	for _, ready := range []<-chan struct{}{hang, after(ctx, wait)} {
		select {
		case <-ready:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return f.cutOff(ctx, mutating)
	}
	return nil
}

func (f *Fake) cutOff(ctx context.Context, mutating bool) error {
	class := targets.Unavailable
	if mutating {
		class = targets.Uncertain
	}
	return &targets.Error{Class: class, Err: fmt.Errorf("no answer from %q: %w", f.name, context.Cause(ctx))}
}

// after is closed after d, or soon after the end of ctx.
func after(ctx context.Context, d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	if d <= 0 {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}()
	return done
}
