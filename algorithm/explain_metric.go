package algorithm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// explainMetric is the line of a metric that worked, without its title: what it saw, how that
// compares, which instances count, what was assumed of the others, and what it asks for.
func (t *trace) explainMetric(m *Metric, r *MetricResult) string {
	saw := fmt.Sprintf("%s, target value %s: ", m.saw(&r.Current), m.wants())
	parts := []string{saw + "no usage ratio"}
	if !math.IsNaN(r.UsageRatio) && !math.IsInf(r.UsageRatio, 0) {
		parts[0] = saw + "usage ratio " + ratioText(r.UsageRatio)
	}
	if n := instancesText(r); n != "" {
		parts = append(parts, n)
	}
	if gaps := m.gapsText(r); gaps != "" {
		parts = append(parts, "settled at "+ratioText(r.SettledRatio)+" with the "+gaps)
	}
	return strings.Join(append(parts, t.asksFor(r)), ", ")
}

// saw is the measured value.
func (m *Metric) saw(c *CurrentValue) string {
	switch {
	case c.HasUtilization:
		return fmt.Sprintf("%d %% of the request", c.Utilization)
	case c.HasAverage:
		return m.amount(c.Average) + m.per()
	case c.HasValue:
		return m.amount(c.Value) + " in all"
	}
	return "no average at 0 replicas"
}

// per says what an average value is an average over.
func (m *Metric) per() string {
	if m.Type == TypeObject || m.Type == TypeExternal {
		return " per replica"
	}
	return " per instance"
}

// wants is the target value.
func (m *Metric) wants() string {
	if m.Target.Kind == KindAverageUtilization {
		return fmt.Sprintf("%d %%", m.Target.Value)
	}
	return m.amount(Quantity(m.Target.Value))
}

// amount writes resources as the configuration does, bytes with their binary suffix, and all else
// as a plain number.
func (m *Metric) amount(q Quantity) string {
	switch resource := m.Type == TypeResource || m.Type == TypeContainerResource; {
	case !resource:
		return strconv.FormatFloat(q.Float(), 'f', -1, 64)
	case m.Name != "memory":
		return q.String()
	}
	value, suffix := q.Float(), ""
	for _, s := range []string{"Ki", "Mi", "Gi", "Ti", "Pi"} {
		if math.Abs(value) < 1024 {
			break
		}
		value, suffix = value/1024, s
	}
	return strconv.FormatFloat(math.Round(value*10)/10, 'f', -1, 64) + suffix
}

// ratioText has two digits after the point, and up to four where they are needed.
func ratioText(ratio float64) string {
	s := strconv.FormatFloat(ratio, 'f', 4, 64)
	return strings.TrimSuffix(strings.TrimSuffix(s, "0"), "0")
}

// instancesText is "3 instances ready, 1 missing".
func instancesText(r *MetricResult) string {
	noun := "instances"
	var parts []string
	for _, group := range []struct {
		n    int32
		name string
	}{{r.Ready, "ready"}, {r.Unready, "unready"}, {r.Missing, "missing"}, {r.Ignored, "ignored"}} {
		if group.n == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", group.n, group.name)
		if len(parts) == 0 {
			if group.n == 1 {
				noun = "instance"
			}
			text = fmt.Sprintf("%d %s %s", group.n, noun, group.name)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// gapsText is what was assumed of instances that did not tell; empty if nothing was.
func (m *Metric) gapsText(r *MetricResult) string {
	if m.Type == TypeObject || m.Type == TypeExternal {
		return ""
	}
	switch {
	case r.UsageRatio > 1 && r.Missing > 0 && r.Unready > 0:
		return "missing and unready counted as using nothing"
	case r.UsageRatio > 1 && r.Missing > 0:
		return "missing counted as using nothing"
	case r.UsageRatio > 1 && r.Unready > 0:
		return "unready counted as using nothing"
	case r.UsageRatio < 1 && r.Missing > 0 && m.Target.Kind == KindAverageUtilization:
		return fmt.Sprintf("missing counted at %d %% of the request", max(100, m.Target.Value))
	case r.UsageRatio < 1 && r.Missing > 0:
		return "missing counted at the target value"
	}
	return ""
}

// asksFor is the metric's proposal and, if that is the present count, why.
func (t *trace) asksFor(r *MetricResult) string {
	switch r.Kept {
	case KeptWithin:
		return fmt.Sprintf("within the tolerance of %s, keeps %d",
			percentText(t.spec.tolerance.of(r.SettledRatio)), r.Proposal)
	case KeptFlipped:
		return fmt.Sprintf("which turns the direction around, keeps %d", r.Proposal)
	case KeptContrary:
		return fmt.Sprintf("whose count would go the other way, keeps %d", r.Proposal)
	}
	return fmt.Sprintf("asks for %d", r.Proposal)
}

// of is the tolerance on the side of 1 where the ratio lies.
func (t *tolerance) of(ratio float64) float64 {
	if ratio < 1 {
		return t.down
	}
	return t.up
}

func percentText(f float64) string {
	return strconv.FormatFloat(math.Round(f*1e6)/1e4, 'f', -1, 64) + " %"
}
