package algorithm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// SpecError is one thing that is wrong with a Spec.
type SpecError struct {
	// Key is the path in the words of the configuration, below the workload:
	// "metric[1].average_value", "behavior.scale_up.policies[0].period", "min_replicas".
	Key string
	// Message says what would be right and what was found.
	Message string
}

func (e SpecError) Error() string { return e.Key + ": " + e.Message }

// The bounds of section 2.3.
const (
	maxWindow = time.Hour
	maxPeriod = 30 * time.Minute
)

// Validate returns everything that is wrong with the Spec, in the order of its fields; nil if it
// may be decided upon. It judges what is written: call it before or after WithDefaults.
func (s Spec) Validate() []SpecError {
	var c checks
	c.bounds(&s)
	total := false
	for i := range s.Metrics {
		m := &s.Metrics[i]
		c.metric(fmt.Sprintf("metric[%d]", i), m)
		total = total || m.Type == TypeObject || m.Type == TypeExternal
	}
	if s.MinReplicas == 0 && s.ScaleToZero && !total {
		c.add("min_replicas", "must be >= 1 without a metric of type object or external, is 0")
	}
	if s.Behavior != nil {
		c.rules("behavior.scale_up", &s.Behavior.ScaleUp)
		c.rules("behavior.scale_down", &s.Behavior.ScaleDown)
	}
	return c
}

type checks []SpecError

func (c *checks) add(key, format string, args ...any) {
	*c = append(*c, SpecError{Key: key, Message: fmt.Sprintf(format, args...)})
}

func (c *checks) bounds(s *Spec) {
	switch {
	case s.MinReplicas < 0:
		c.add("min_replicas", "must be >= 0, is %d", s.MinReplicas)
	case s.MinReplicas == 0 && !s.ScaleToZero:
		c.add("min_replicas", "must be >= 1 unless scaling to zero is enabled, is 0")
	}
	switch {
	case s.MaxReplicas < 1:
		c.add("max_replicas", "must be >= 1, is %d", s.MaxReplicas)
	case s.MaxReplicas < s.MinReplicas:
		c.add("max_replicas", "must be >= min_replicas (%d), is %d", s.MinReplicas, s.MaxReplicas)
	}
}

// targetKinds lists the kinds of target value a metric type may have.
func (t MetricType) targetKinds() (kinds []TargetKind, known bool) {
	switch t {
	case TypeResource, TypeContainerResource:
		return resourceKinds[:], true
	case TypeInstances:
		return totalKinds[:1], true
	case TypeObject, TypeExternal:
		return totalKinds[:], true
	}
	return nil, false
}

var (
	resourceKinds = [...]TargetKind{KindAverageUtilization, KindAverageValue}
	totalKinds    = [...]TargetKind{KindAverageValue, KindValue}
)

func (c *checks) metric(key string, m *Metric) {
	kinds, known := m.Type.targetKinds()
	if !known {
		c.add(key+".type", "must be one of resource, container_resource, instances, object, "+
			"external, is %q", m.Type)
		return
	}
	if m.Name == "" {
		c.add(key+".name", "must not be empty")
	}
	if m.Type == TypeContainerResource && m.Container == "" {
		c.add(key+".container", "must not be empty for a metric of type container_resource")
	}
	if !slices.Contains(kinds, m.Target.Kind) {
		c.add(key, "a metric of type %s needs %s", m.Type, either(kinds))
		return
	}
	c.targetValue(key+"."+string(m.Target.Kind), m.Target)
}

func either(kinds []TargetKind) string {
	words := make([]string, len(kinds))
	for i, kind := range kinds {
		words[i] = string(kind)
	}
	return strings.Join(words, " or ")
}

func (c *checks) targetValue(key string, t TargetValue) {
	switch {
	case t.Kind != KindAverageUtilization && t.Value <= 0:
		c.add(key, "must be > 0, is %v", Quantity(t.Value))
	case t.Kind != KindAverageUtilization:
	case t.Value < 1:
		c.add(key, "must be >= 1 (percent), is %d", t.Value)
	case t.Value > math.MaxInt32:
		c.add(key, "must be <= %d (percent), is %d", math.MaxInt32, t.Value)
	}
}

func (c *checks) rules(key string, r *Rules) {
	if w := r.StabilizationWindow; w != nil {
		c.duration(key+".stabilization_window", *w, 0, maxWindow)
	}
	switch r.SelectPolicy {
	case "", SelectMax, SelectMin, SelectDisabled:
	default:
		c.add(key+".select_policy", "must be one of max, min, disabled, is %q", r.SelectPolicy)
	}
	if t := r.Tolerance; t != nil && !(*t >= 0) {
		c.add(key+".tolerance", "must be >= 0, is %v", *t)
	}
	if r.Policies != nil && len(r.Policies) == 0 {
		c.add(key+".policies", "must hold at least one policy")
	}
	for i, p := range r.Policies {
		c.policy(fmt.Sprintf("%s.policies[%d]", key, i), p)
	}
}

func (c *checks) policy(key string, p Policy) {
	if p.Type != PolicyInstances && p.Type != PolicyPercent {
		c.add(key+".type", "must be instances or percent, is %q", p.Type)
	}
	if p.Value <= 0 {
		c.add(key+".value", "must be > 0, is %d", p.Value)
	}
	c.duration(key+".period", p.Period, time.Second, maxPeriod)
}

func (c *checks) duration(key string, d, least, most time.Duration) {
	switch {
	case d < least || d > most:
		c.add(key, "must be between %v and %v, is %v", least, most, d)
	case d%time.Second != 0:
		c.add(key, "must be whole seconds, is %v", d)
	}
}
