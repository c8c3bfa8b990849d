package algorithm

import (
	"slices"
	"time"
)

// Shift returns the State as if everything in it had happened so much later. Who finds that the
// clock was set continues with a shifted State, so that no window opens or closes by that alone.
func (s State) Shift(d time.Duration) State {
	s.Memory.Recommendations = slices.Clone(s.Memory.Recommendations)
	for i := range s.Memory.Recommendations {
		s.Memory.Recommendations[i].Time = s.Memory.Recommendations[i].Time.Add(d)
	}
	s.Memory.ScaleUps = shifted(s.Memory.ScaleUps, d)
	s.Memory.ScaleDowns = shifted(s.Memory.ScaleDowns, d)
	if !s.Status.LastScaleTime.IsZero() {
		s.Status.LastScaleTime = s.Status.LastScaleTime.Add(d)
	}
	for i := range s.Status.Conditions {
		if c := &s.Status.Conditions[i]; !c.Since.IsZero() {
			c.Since = c.Since.Add(d)
		}
	}
	return s
}

func shifted(events []ScaleEvent, d time.Duration) []ScaleEvent {
	events = slices.Clone(events)
	for i := range events {
		events[i].Time = events[i].Time.Add(d)
	}
	return events
}
