package algorithm

import (
	"slices"
	"time"
)

// DefaultMinReplicas is the HPA's minReplicas where none is written. [Spec.WithDefaults] cannot
// tell an absent minimum from a written 0, so whoever reads the configuration fills it in.
const DefaultMinReplicas = 1

// WithDefaults returns the Spec with everything filled in that was left out (docs/semantics.md,
// section 2.2). What was written stays as it is, valid or not, and s itself is not changed.
func (s Spec) WithDefaults() Spec {
	if len(s.Metrics) == 0 {
		s.Metrics = []Metric{{
			Type: TypeResource, Name: "cpu",
			Target: TargetValue{Kind: KindAverageUtilization, Value: 80},
		}}
	}
	s.Metrics = slices.Clone(s.Metrics)
	s.total = false
	for i := range s.Metrics {
		m := &s.Metrics[i]
		m.label = m.upstreamName()
		m.found = "the HPA was able to successfully calculate a replica count from " + m.label
		m.above = m.label + " above target"
		s.total = s.total || m.Type == TypeObject || m.Type == TypeExternal
	}
	s.tolerance = tolerance{up: s.Settings.Tolerance, down: s.Settings.Tolerance}
	if s.Behavior != nil {
		s.Behavior = s.Behavior.withDefaults(s.Settings.DownscaleStabilization)
		s.tolerance.override(s.Behavior)
	}
	s.complete = true
	return s
}

func (b *Behavior) withDefaults(downscaleStabilization time.Duration) *Behavior {
	doubling := Policy{Type: PolicyPercent, Value: 100, Period: 15 * time.Second}
	four := Policy{Type: PolicyInstances, Value: 4, Period: 15 * time.Second}
	return &Behavior{
		ScaleUp:   b.ScaleUp.withDefaults(0, four, doubling),
		ScaleDown: b.ScaleDown.withDefaults(downscaleStabilization.Truncate(time.Second), doubling),
	}
}

func (r Rules) withDefaults(window time.Duration, policies ...Policy) Rules {
	if r.StabilizationWindow != nil {
		window = *r.StabilizationWindow
	}
	r.StabilizationWindow = &window
	if r.SelectPolicy == "" {
		r.SelectPolicy = SelectMax
	}
	if r.Policies != nil {
		policies = slices.Clone(r.Policies)
	}
	r.Policies = policies
	return r
}

// upstreamName is how the HPA calls a metric in reasons and conditions (section 19).
func (m *Metric) upstreamName() string {
	perInstance := m.Target.Kind == KindAverageValue
	switch m.Type {
	case TypeResource, TypeContainerResource:
		switch {
		case perInstance:
			return m.Name + " resource"
		case m.Type == TypeContainerResource:
			return m.Name + " container resource utilization (percentage of request)"
		}
		return m.Name + " resource utilization (percentage of request)"
	case TypeInstances:
		return "pods metric " + m.Name
	case TypeObject:
		if !perInstance {
			return m.object() + " metric " + m.Name
		}
	}
	return "external metric " + m.Name + "(nil)"
}

func (m *Metric) object() string {
	if m.Object == "" {
		return "object"
	}
	return m.Object
}
