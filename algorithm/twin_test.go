package algorithm_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
)

// TestTwinAgrees walks through random histories with the algorithm and with its slow twin, and
// compares all that they decide and remember.
func TestTwinAgrees(t *testing.T) {
	histories := 1500
	if testing.Short() {
		histories = 300
	}
	steps, rescales, failures := 0, 0, 0
	for seed := range uint64(histories) {
		h := newHistory(seed, seed%8 == 7)
		for range 20 {
			got, want := h.step()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("history %d, step %d: -twin +algorithm\n%s\n%+v\n%+v", seed, h.steps, diff, h.spec, h.obs)
			}
			if diff := cmp.Diff(h.twin.remembered(), remembered(&h.state)); diff != "" {
				t.Fatalf("history %d, step %d: state: -twin +algorithm\n%s", seed, h.steps, diff)
			}
			steps++
			if got.Rescale {
				rescales++
			}
			if got.Failed {
				failures++
			}
		}
	}
	t.Logf("%d steps, %d rescales, %d failures", steps, rescales, failures)
	if rescales < steps/10 || failures < steps/20 {
		t.Errorf("%d steps with %d rescales and %d failures: too dull to prove anything", steps, rescales, failures)
	}
}

// history is one target's life, seen by both.
type history struct {
	chance
	now      time.Time
	spec     algorithm.Spec
	state    algorithm.State
	obs      algorithm.Observation
	twin     *twin
	replicas int32
	steps    int
}

func newHistory(seed uint64, wild bool) *history {
	h := &history{chance: newChance(seed, wild), now: epoch}
	h.twin = &twin{conditions: map[string]string{}, since: map[string]time.Time{}}
	h.spec = h.chance.spec()
	h.replicas = int32(h.IntN(8))
	return h
}

// step lets something happen and both decide.
func (h *history) step() (got, want twinOutcome) {
	h.steps++
	h.now = h.now.Add(h.advance())
	if h.one(25) {
		h.spec = h.chance.spec()
	}
	if h.one(40) {
		h.state.Memory = algorithm.Memory{}
		h.twin.forget()
	}
	if h.one(25) {
		h.replicas = int32(h.IntN(20))
	}
	h.obs = h.observe(h.now, &h.spec, h.replicas)
	var refusal error
	if h.one(20) {
		refusal = errors.New("out of date")
	}
	want = h.twin.step(h.now, h.spec, &h.obs, refusal)
	decision, state := algorithm.Decide(h.now, &h.spec, h.state, &h.obs)
	if decision.Rescale {
		state = algorithm.Applied(h.now, &h.spec, &decision, state, refusal)
	} else {
		refusal = nil
	}
	h.state = state
	if decision.Rescale && refusal == nil {
		h.replicas = decision.Desired
	}
	return outcome(&decision, refusal), want
}

// outcome is a Decision in the words of the twin.
func outcome(d *algorithm.Decision, refusal error) twinOutcome {
	out := twinOutcome{Desired: d.Desired, Rescale: d.Rescale, Reason: d.Reason, Failed: d.Err != nil}
	if d.Recommended {
		out.Recommendation = fmt.Sprint(d.Recommendation)
	}
	for _, m := range d.Metrics {
		r := twinMetric{Failure: m.Reason}
		if m.Err == nil {
			r.Proposal = m.Proposal
		}
		if c := m.Current; c.HasUtilization {
			r.Utilization = fmt.Sprint(c.Utilization)
		}
		if c := m.Current; c.HasAverage {
			r.Average = fmt.Sprint(int64(c.Average))
		}
		if c := m.Current; c.HasValue {
			r.Value = fmt.Sprint(int64(c.Value))
		}
		out.Metrics = append(out.Metrics, r)
	}
	for _, e := range d.Events(refusal) {
		text := "Warning " + e.Reason
		if !e.Warning {
			text = "Normal " + e.Reason
		}
		if e.Reason == algorithm.ReasonSuccessfulRescale || e.Reason == algorithm.ReasonFailedRescale {
			text += " " + e.Message
		}
		out.Events = append(out.Events, text)
	}
	return out
}

// memory is what both remember, in comparable form.
type memory struct {
	Begun                       bool
	Recommendations, Ups, Downs []twinEntry
	Conditions                  map[string]string
	Since                       map[string]time.Time
	Current, Desired            int32
	LastScale                   time.Time
}

func (w *twin) remembered() memory {
	since := map[string]time.Time{}
	for name := range w.conditions {
		since[name] = w.since[name]
	}
	return memory{
		Begun: w.begun, Recommendations: w.recommendations, Ups: w.ups, Downs: w.downs,
		Conditions: w.conditions, Since: since, Current: w.current, Desired: w.desired, LastScale: w.lastScale,
	}
}

func remembered(s *algorithm.State) memory {
	m := memory{
		Begun: s.Memory.Begun, Conditions: map[string]string{}, Since: map[string]time.Time{},
		Current: s.Status.CurrentReplicas, Desired: s.Status.DesiredReplicas, LastScale: s.Status.LastScaleTime,
	}
	for _, r := range s.Memory.Recommendations {
		m.Recommendations = append(m.Recommendations, twinEntry{Replicas: r.Replicas, Time: r.Time.Time()})
	}
	for _, e := range s.Memory.ScaleUps {
		m.Ups = append(m.Ups, twinEntry{Replicas: e.Replicas, Time: e.Time.Time(), Outdated: e.Outdated})
	}
	for _, e := range s.Memory.ScaleDowns {
		m.Downs = append(m.Downs, twinEntry{Replicas: e.Replicas, Time: e.Time.Time(), Outdated: e.Outdated})
	}
	for kind := range algorithm.ScaledToZero + 1 {
		if c := s.Status.Conditions[kind]; c.Status != "" {
			m.Conditions[kind.String()] = string(c.Status) + " " + c.Reason
			m.Since[kind.String()] = c.Since
		}
	}
	return m
}
