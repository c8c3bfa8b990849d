package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// remember opens the state.
func (d *Daemon) remember(undo *closers) error {
	dir := d.set.cfg.Daemon.StateDir
	if dir == "" {
		return nil
	}
	s, err := openState(dir, d.log, d.metrics.state)
	if err != nil {
		return err
	}
	d.state = s
	undo.push("the state", func(context.Context) error { return s.close() })
	return nil
}

// recall gives a new workload the state that was kept of one with its name.
func (d *Daemon) recall(w *workload, b *binding, period time.Duration) {
	s, found := d.state.load(w.name)
	if !found {
		return
	}
	now := time.Now()
	s.notAfter(now)
	same := s.target == b.target.ID()
	if !same || now.Sub(s.at) > d.state.longestGap(period) {
		s.state.Memory.Begun = false
	}
	w.history.state = s.state
	if same {
		w.history.intent = s.intent
		w.history.resumable = true
	}
}

// longestGap is how long ago the last evaluation in the store may be for it to count as the one
// before the next. If hpad did not stop in order the next one may be missing, and evaluations are
// half a period apart at least.
func (s *store) longestGap(period time.Duration) time.Duration {
	if s.complete {
		return 2 * period
	}
	return period / 2
}

// notAfter moves what lies in the future to now: the clock was set back since, and what is in the
// future would not be forgotten in time.
func (s *saved) notAfter(now time.Time) {
	earliest := func(t *time.Time) {
		if t.After(now) {
			*t = now
		}
	}
	earliest(&s.at)
	m, latest := &s.state.Memory, algorithm.InstantOf(now)
	m.Recommendations = slices.Clone(m.Recommendations)
	m.ScaleUps, m.ScaleDowns = slices.Clone(m.ScaleUps), slices.Clone(m.ScaleDowns)
	for i := range m.Recommendations {
		m.Recommendations[i].Time = min(m.Recommendations[i].Time, latest)
	}
	for _, events := range [][]algorithm.ScaleEvent{m.ScaleUps, m.ScaleDowns} {
		for i := range events {
			events[i].Time = min(events[i].Time, latest)
		}
	}
	earliest(&s.state.Status.LastScaleTime)
	if s.intent != nil {
		clamped := *s.intent
		earliest(&clamped.at)
		s.intent = &clamped
	}
}

// resumeAfterRestart tells a target that hpad itself runs the size it had before hpad ended.
func (w *workload) resumeAfterRestart(b *binding) {
	target, ok := b.target.Target.(resumer)
	if !ok {
		return
	}
	if replicas, known := w.history.lastSize(); known {
		target.Resume(replicas)
		return
	}
	w.beginAt(target.InitialReplicas(), time.Now())
}

// lastSize is how many replicas the target had been asked for when hpad ended; false if that is not
// known. There is no desired count before an evaluation got through, and none in a dry run.
func (h *history) lastSize() (replicas int32, known bool) {
	s := &h.state.Status
	switch {
	case !h.resumable:
		return 0, false
	case h.intent != nil:
		return h.intent.desired, true
	case s.DesiredReplicas > 0 || s.Conditions[algorithm.ScaledToZero].Status == algorithm.ConditionTrue:
		return s.DesiredReplicas, true
	}
	return s.CurrentReplicas, s.CurrentReplicas > 0
}

// before is the state that was before this evaluation. A change of which an hpad that was killed
// did not learn the outcome counts as made if the target stands where it was to go, as of the time
// it was to be made; otherwise it counts as not made.
func (e *evaluation) before() algorithm.State {
	h := &e.workload.history
	if h.intent == nil || e.observation.TargetErr != nil {
		return h.state
	}
	in := *h.intent
	h.intent = nil
	if e.observation.SpecReplicas != in.desired {
		return h.state
	}
	made := algorithm.Decision{SpecReplicas: in.from, Desired: in.desired}
	h.state = algorithm.Applied(in.at, &e.bound.config.Spec, &made, h.state, nil)
	h.counts.scaled(in.from, in.desired)
	e.workload.log.Info("scaled just before hpad ended", "from", in.from, "to", in.desired, "at", in.at)
	return h.state
}

// announce keeps what is about to be done, so that it is known after a crash. The write goes on
// even if this fails: a workload that is not scaled is worse than a scale event that is forgotten.
func (e *evaluation) announce() {
	if e.store == nil || e.bound.config.DryRun {
		return
	}
	e.intended = true
	s := e.saved()
	s.intent = &intent{from: e.decision.SpecReplicas, desired: e.decision.Desired, at: e.at}
	e.store.commit(e.workload.name, s)
}

// save keeps the state the evaluation ended with: at once if a change was announced, else soon.
func (e *evaluation) save() {
	if e.store == nil {
		return
	}
	s := e.saved()
	// It is still there if the target could not be read.
	s.intent = e.workload.history.intent
	if e.intended {
		e.store.commit(e.workload.name, s)
	} else {
		e.store.note(e.workload.name, s)
	}
}

func (e *evaluation) saved() saved {
	return saved{target: e.bound.target.ID(), at: e.at, state: e.state}
}
