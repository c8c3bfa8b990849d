package algorithm

import "time"

// group is what an instance counts as for a metric (section 7).
type group uint8

const (
	groupReady group = iota
	groupUnready
	groupMissing
	groupIgnored
)

// grouping holds what the groups of one metric's instances depend on.
type grouping struct {
	cpu bool
	// Instances started after youngest are still initializing.
	youngest time.Time
	delay    time.Duration
}

// groupingOf returns the rules for a metric. Those about readiness hold for CPU only, which a
// starting instance uses for other things than its work.
func (e *evaluation) groupingOf(m *Metric) grouping {
	return grouping{
		cpu:      m.Type != TypeInstances && m.Name == "cpu",
		youngest: e.now.Add(-e.spec.Settings.CPUInitializationPeriod),
		delay:    e.spec.Settings.InitialReadinessDelay,
	}
}

// of returns the group of an instance; the first rule that matches wins.
func (g *grouping) of(in *Instance, sample *Sample) group {
	switch {
	case in.Deleting || in.Phase == PhaseFailed:
		return groupIgnored
	case in.Phase == PhasePending:
		return groupUnready
	case sample == nil || !sample.Present:
		return groupMissing
	case g.cpu && g.unready(in, sample):
		return groupUnready
	}
	return groupReady
}

// unready tells whether the CPU of an instance that runs is not yet that of its work.
func (g *grouping) unready(in *Instance, sample *Sample) bool {
	if in.Ready == ReadinessAbsent || in.Started.IsZero() {
		return true
	}
	if in.Started.After(g.youngest) {
		return in.Ready == NotReady || sample.Time.Before(in.ReadyTransition.Add(sample.Window))
	}
	return in.Ready == NotReady && in.neverReady(g.delay)
}

// neverReady tells whether the last change of readiness is so early that it was none.
func (in *Instance) neverReady(delay time.Duration) bool {
	return in.Started.Add(delay).After(in.ReadyTransition)
}

// Request is what an instance reserves of the metric's resource (section 8).
func (m *Metric) Request(in *Instance) (Quantity, bool) {
	if m.Type == TypeContainerResource {
		return in.containerRequest(m.Container, m.Name)
	}
	if q, ok := requestOf(in.Requests, m.Name); ok {
		return q, true
	}
	var sum Quantity
	for i := range in.Containers {
		q, ok := requestOf(in.Containers[i].Requests, m.Name)
		if !ok {
			return 0, false
		}
		sum += q
	}
	return sum, len(in.Containers) > 0
}

func (in *Instance) containerRequest(container, resource string) (Quantity, bool) {
	for i := range in.Containers {
		if in.Containers[i].Name == container {
			return requestOf(in.Containers[i].Requests, resource)
		}
	}
	return 0, false
}

func requestOf(requests []Request, resource string) (Quantity, bool) {
	for i := range requests {
		if requests[i].Resource == resource {
			return requests[i].Value, true
		}
	}
	return 0, false
}
