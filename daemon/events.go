package daemon

import (
	"slices"
	"time"

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

// recordEvents adds what kubectl describe would show of the evaluation, and hpad's own.
func (e *evaluation) recordEvents() {
	d := e.decision
	if e.wrote == held || e.wrote == dry {
		d.Rescale = false
	}
	var writeErr error
	if e.wrote == failed {
		writeErr = e.err
	}
	for _, happened := range d.Events(writeErr) {
		kind := eventNormal
		if happened.Warning {
			kind = eventWarning
		}
		e.event(kind, happened.Reason, happened.Message)
	}
	if e.wrote == held {
		c := &e.workload.history.own[targetBlocked]
		e.event(eventWarning, targetBlocked.String(), c.Reason+": "+c.Message)
	}
}

func (e *evaluation) event(kind, reason, message string) {
	h := &e.workload.history
	h.events = withEvent(h.events, kind, reason, message, e.at)
}
