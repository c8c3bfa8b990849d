package daemon

import (
	"fmt"

	"github.com/hpad/hpad/algorithm"
)

// explain is the trace of the last decision and of what became of it, one step per line.
func explain(r *report) []string {
	d := &r.decision
	if r.failure != nil && r.failure.kind == kindPanic && r.failure.reason == reasonPanic {
		return []string{fmt.Sprintf("the evaluation came to no end: %v", d.Err)}
	}
	lines := Explain(r.bound.config.Spec.Metrics, d)
	switch d.Path {
	case algorithm.PathTargetFailed, algorithm.PathDisabled:
		return lines
	}
	return append(lines, r.explainResult())
}

// Explain is the trace of a decision that was made with these metrics, one step per line.
func Explain(metrics []algorithm.Metric, d *algorithm.Decision) []string {
	switch d.Path {
	case algorithm.PathTargetFailed:
		return []string{fmt.Sprintf("the target could not be read: %v", d.Err)}
	case algorithm.PathDisabled:
		return []string{"the target stands at 0 replicas and did not get there by this workload: left alone"}
	}
	lines := []string{fmt.Sprintf("the target: %d replicas asked for, %d there", d.SpecReplicas, d.StatusReplicas)}
	for i := range d.Metrics {
		lines = append(lines, explainMetric(&metrics[i], &d.Metrics[i]))
	}
	if d.Recommended {
		lines = append(lines, explainLimits(d)...)
	}
	return lines
}

func explainMetric(m *algorithm.Metric, result *algorithm.MetricResult) string {
	if result.Err != nil {
		return fmt.Sprintf("metric %q: %v", m.Name, result.Err)
	}
	line := fmt.Sprintf("metric %q: usage ratio %.3f", m.Name, result.UsageRatio)
	if result.SettledRatio != result.UsageRatio {
		line += fmt.Sprintf(", %.3f with %d unready and %d missing instances filled in",
			result.SettledRatio, result.Unready, result.Missing)
	}
	if result.Within {
		line += ", within the tolerance"
	}
	return line + fmt.Sprintf(": %d replicas", result.Proposal)
}

func explainLimits(d *algorithm.Decision) []string {
	lines := []string{fmt.Sprintf("recommendation: %d replicas", d.Recommendation)}
	if d.Stabilization.Held {
		lines = append(lines, fmt.Sprintf("held by the stabilization window: %d replicas", d.Stabilization.Result))
	}
	for _, p := range d.Limit.Policies {
		lines = append(lines, fmt.Sprintf("policy of %d %s per %s: from %d replicas as far as %d",
			p.Policy.Value, p.Policy.Type, p.Policy.Period, p.Start, p.Limit))
	}
	if d.Limit.Limited {
		lines = append(lines, fmt.Sprintf("limited by %s to %d replicas", d.Limit.Reason, d.Limit.Cap))
	}
	return lines
}

func (r *report) explainResult() string {
	d := &r.decision
	if !d.Rescale {
		return fmt.Sprintf("nothing to change: %d replicas", d.SpecReplicas)
	}
	result := map[outcome]string{
		changed: "done", held: "waits for the target", dry: "not written: dry run", failed: "failed",
	}[r.wrote]
	return fmt.Sprintf("from %d to %d replicas: %s", d.SpecReplicas, d.Desired, result)
}
