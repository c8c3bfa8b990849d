package algorithm

import (
	"fmt"
	"slices"
	"time"
)

// Applied records the outcome of writing d.Desired to the target, and returns the State for the
// next evaluation. It is called after a Decision with Rescale, and only then. A failed write (err
// not nil) leaves a condition and no scale event.
func Applied(now time.Time, spec *Spec, d *Decision, state State, err error) State {
	if !spec.complete {
		completed := spec.WithDefaults()
		spec = &completed
	}
	conditions := &state.Status.Conditions
	if err != nil {
		conditions.set(AbleToScale, now, ConditionFalse, ReasonFailedUpdateScale,
			fmt.Sprintf("the HPA controller was unable to update the target scale: %v", err))
		return state
	}
	conditions.set(AbleToScale, now, ConditionTrue, ReasonSucceededRescale,
		fmt.Sprintf("the HPA controller was able to update the target scale to %d", d.Desired))
	state.Memory.remember(now, spec.Behavior, d)
	conditions.setScaledToZero(now, spec, d)
	state.Status.DesiredReplicas = d.Desired
	state.Status.LastScaleTime = now
	return state
}

// Outcome is why the evaluation as a whole counts as failed, given how the write ended; nil
// if it did not fail. Without Rescale, writeErr is nil.
func (d *Decision) Outcome(writeErr error) error {
	if writeErr != nil {
		return fmt.Errorf("cannot rescale to %d: %w", d.Desired, writeErr)
	}
	return d.Err
}

// remember adds a scale event; only policies read them, so only with behavior (section 16).
func (m *Memory) remember(now time.Time, b *Behavior, d *Decision) {
	switch {
	case b == nil:
	case d.Desired > d.SpecReplicas:
		m.ScaleUps = added(m.ScaleUps, InstantOf(now), longestPeriod(b.ScaleUp.Policies), d.Desired-d.SpecReplicas)
	case d.Desired < d.SpecReplicas:
		m.ScaleDowns = added(m.ScaleDowns, InstantOf(now), longestPeriod(b.ScaleDown.Policies), d.SpecReplicas-d.Desired)
	}
}

func longestPeriod(policies []Policy) time.Duration {
	var longest time.Duration
	for _, p := range policies {
		longest = max(longest, p.Period)
	}
	return longest
}

// added returns the events with a new one, which takes the place of the last outdated one.
func added(events []ScaleEvent, now Instant, longest time.Duration, replicas int32) []ScaleEvent {
	event := ScaleEvent{Replicas: replicas, Time: now}
	oldest := now.Add(-longest)
	events = slices.Clone(events)
	replace := -1
	for i := range events {
		if events[i].Time < oldest {
			events[i].Outdated = true
		}
		if events[i].Outdated {
			replace = i
		}
	}
	if replace < 0 {
		return append(events, event)
	}
	events[replace] = event
	return events
}

// setScaledToZero is what a later evaluation at 0 replicas asks: did the workload go there itself?
func (c *Conditions) setScaledToZero(now time.Time, spec *Spec, d *Decision) {
	toZero := d.SpecReplicas > 0 && d.Desired == 0 && spec.MinReplicas == 0 && spec.total
	switch {
	case !spec.ScaleToZero:
		c[ScaledToZero] = Condition{}
	case toZero:
		c.set(ScaledToZero, now, ConditionTrue, ReasonScaledToZero, messageScaledToZero)
	default:
		c.set(ScaledToZero, now, ConditionFalse, ReasonNotScaledToZero, messageNotScaledToZero)
	}
}
