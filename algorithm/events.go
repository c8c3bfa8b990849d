package algorithm

import "fmt"

// Event is something worth telling that happened in one evaluation (HPA: an event of the
// autoscaler). A Warning tells of a failure; else its type is Normal.
type Event struct {
	Warning         bool
	Reason, Message string
}

// Events lists what the HPA would emit for the decision, in its order (section 19). Of a Decision
// with Rescale they tell that it was written, or that it was not because of writeErr; a caller
// that does not write at all asks a copy of the Decision without Rescale. That a status could not
// be saved ([ReasonFailedUpdateStatus]) is for the caller to tell.
func (d *Decision) Events(writeErr error) []Event {
	var events []Event
	warn := func(reason, message string) {
		events = append(events, Event{Warning: true, Reason: reason, Message: message})
	}
	if d.Path == PathTargetFailed {
		warn(ReasonFailedGetScale, d.Err.Error())
		return events
	}
	if d.Path == PathMetrics && d.Selector != SelectorOK {
		warn(d.Selector.failure(), d.Err.Error())
	}
	for i := range d.Metrics {
		if m := &d.Metrics[i]; m.Err != nil {
			warn(m.Reason, m.Err.Error())
		}
	}
	if d.Err != nil && !d.Recommended {
		warn(ReasonFailedComputeMetricsReplicas, d.Err.Error())
	}
	if !d.Rescale {
		return events
	}
	done := fmt.Sprintf("New size: %d; reason: %s", d.Desired, d.Reason)
	if writeErr != nil {
		warn(ReasonFailedRescale, fmt.Sprintf("%s; error: %v", done, writeErr))
		return events
	}
	return append(events, Event{Reason: ReasonSuccessfulRescale, Message: done})
}

// failure is the reason of the event if the instances cannot be told from others.
func (s Selector) failure() string {
	switch s {
	case SelectorMissing:
		return ReasonSelectorRequired
	case SelectorAmbiguous:
		return ReasonAmbiguousSelector
	}
	return ReasonInvalidSelector
}
