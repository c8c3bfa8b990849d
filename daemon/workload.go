package daemon

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/api"
)

// workload is what one workload is while the daemon runs. Reloads change what it is bound to;
// the workload, with its history, stays.
type workload struct {
	name string
	log  *slog.Logger
	// since is when the daemon began to manage the workload.
	since time.Time

	mu         sync.Mutex
	bound      *binding
	evaluating bool
	// fresh is true until the first evaluation begins, which is due at first; earlier turns are not
	// the workload's, nor are those between it and notBefore.
	fresh            bool
	first, notBefore time.Time

	// history belongs to the evaluation that runs, of which there is at most one.
	history history

	// report is what the last evaluation left for everybody to see; nil before the first.
	report atomic.Pointer[report]
}

// history is what one evaluation leaves for the next.
type history struct {
	state algorithm.State
	// clock is the time of the last evaluation.
	clock clock
	// intent is a change of which an hpad that was killed did not learn the outcome; nil if there is
	// none.
	intent *intent
	// resumable is true if the state is that of the workload's present target, kept from before hpad
	// started.
	resumable bool
	own       ownConditions
	// events are the newest last.
	events  []api.Event
	counts  counts
	success time.Time
	// trouble names the error of the last evaluation, for telling a new one from an old one;
	// empty if there was none.
	trouble string
	// withheld is the change that a dry run told of last; zero if it wants none.
	withheld withheld
}

// withheld is a change that was not made because of a dry run.
type withheld struct{ from, to int32 }

// counts only ever grow.
type counts struct {
	ok, failed uint64
	ups, downs uint64
}

func (c *counts) scaled(from, to int32) {
	if to > from {
		c.ups++
	} else {
		c.downs++
	}
}

func newWorkload(b *binding, log *slog.Logger, now time.Time) *workload {
	name := b.config.Name
	return &workload{name: name, log: log.With("workload", name), since: now, bound: b, fresh: true}
}

// beginEvaluation returns what the workload is bound to, or nil if it is not to be evaluated now:
// it waits for another turn, was removed, or is busy with the evaluation before. The caller calls
// endEvaluation unless it got nil.
func (w *workload) beginEvaluation(at time.Time) (b *binding, busy bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bound == nil || w.waits(at) {
		return nil, false
	}
	if w.evaluating {
		return nil, true
	}
	w.evaluating = true
	w.bound.users.Add(1)
	return w.bound, false
}

func (w *workload) endEvaluation(b *binding) {
	w.mu.Lock()
	w.evaluating = false
	w.mu.Unlock()
	b.users.Done()
}

// bind replaces what the workload is bound to; nil removes the workload. An evaluation that runs
// finishes with the old binding.
func (w *workload) bind(b *binding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bound = b
}

func (w *workload) binding() *binding {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bound
}

// settle plans the first evaluation, and keeps the second from following it too closely.
func (w *workload) settle(first time.Time, period time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.first, w.notBefore = first, first.Add(period/2)
}

// waits tells whether a turn at this time is not the workload's.
func (w *workload) waits(at time.Time) bool {
	if !w.fresh {
		return at.Before(w.notBefore)
	}
	w.fresh = at.Before(w.first)
	return w.fresh
}

func (w *workload) isFresh() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fresh
}

// waitUntil skips the turns before t, because the target asked for it.
func (w *workload) waitUntil(t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notBefore = t
}
