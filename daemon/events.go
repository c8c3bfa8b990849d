package daemon

import (
	"fmt"
	"slices"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/api"
)

// maxEvents is how many different events of a workload are remembered.
const maxEvents = 32

// Types of events.
const (
	eventNormal  = "Normal"
	eventWarning = "Warning"
)

// withEvent returns the events with one more, the newest last. An equal one is counted. What is
// returned shares nothing with what was given, for that may have been published.
func withEvent(events []api.Event, kind, reason, message string, at time.Time) []api.Event {
	event := api.Event{Type: kind, Reason: reason, Message: message, First: at}
	same := func(e api.Event) bool { return e.Type == kind && e.Reason == reason && e.Message == message }
	if i := slices.IndexFunc(events, same); i >= 0 {
		event = events[i]
		events = slices.Concat(events[:i], events[i+1:])
	}
	event.Count++
	event.Last = at
	events = append(slices.Clip(events), event)
	return events[max(0, len(events)-maxEvents):]
}

// recordEvents adds what kubectl describe would show of the evaluation (hpa-semantics.md, section
// 19), and hpad's own.
func (e *evaluation) recordEvents() {
	e.recordReadEvents()
	d := &e.decision
	switch e.wrote {
	case changed:
		e.event(eventNormal, algorithm.ReasonSuccessfulRescale, fmt.Sprintf("New size: %d; reason: %s", d.Desired, d.Reason))
	case failed:
		e.event(eventWarning, algorithm.ReasonFailedRescale,
			fmt.Sprintf("New size: %d; reason: %s; error: %v", d.Desired, d.Reason, e.err))
	case held:
		c := &e.workload.history.own[targetBlocked]
		e.event(eventWarning, targetBlocked.String(), c.Reason+": "+c.Message)
	}
}

// recordReadEvents adds the events of what could not be read.
func (e *evaluation) recordReadEvents() {
	d := &e.decision
	if d.Path == algorithm.PathTargetFailed {
		e.event(eventWarning, algorithm.ReasonFailedGetScale, d.Err.Error())
		return
	}
	for i := range d.Metrics {
		if d.Metrics[i].Err != nil {
			e.event(eventWarning, d.Metrics[i].Reason, d.Metrics[i].Err.Error())
		}
	}
	if d.Err != nil && !d.Recommended {
		e.event(eventWarning, algorithm.ReasonFailedComputeMetricsReplicas, d.Err.Error())
	}
}

func (e *evaluation) event(kind, reason, message string) {
	h := &e.workload.history
	h.events = withEvent(h.events, kind, reason, message, e.at)
}
