package algorithm

import (
	"errors"
	"fmt"
)

// evaluateMetrics is section 5: the largest proposal wins, and a failed metric blocks "down". It
// returns false if there is no usable count.
func (e *evaluation) evaluateMetrics() (replicas int32, ok bool) {
	if e.obs.Selector != SelectorOK {
		e.selectorFailed()
		return 0, false
	}
	e.decision.MetricsEvaluated = true
	e.decision.Metrics = make([]MetricResult, len(e.spec.Metrics))
	failed, first := 0, -1
	for i := range e.decision.Metrics {
		r := &e.decision.Metrics[i]
		e.recommend(i, r)
		switch {
		case r.Err == nil && (replicas == 0 || r.Proposal > replicas):
			replicas, e.decision.Winner = r.Proposal, i
		case r.Err != nil:
			failed++
			if first < 0 {
				first = i
			}
		}
	}
	if failed > 0 {
		e.decision.Err = fmt.Errorf("invalid metrics (%d invalid out of %d), first error is: %w",
			failed, len(e.decision.Metrics), e.decision.Metrics[first].Err)
	}
	if failed == len(e.decision.Metrics) || failed > 0 && replicas < e.obs.SpecReplicas {
		e.inactive(e.decision.Metrics[first].Reason)
		return 0, false
	}
	e.set(ScalingActive, ConditionTrue, ReasonValidMetricFound, e.spec.Metrics[e.decision.Winner].found)
	return replicas, true
}

func (e *evaluation) selectorFailed() {
	reason := ReasonInvalidSelector
	switch e.obs.Selector {
	case SelectorMissing:
		e.decision.Err = errSelectorMissing
	case SelectorAmbiguous:
		reason, e.decision.Err = ReasonAmbiguousSelector, errSelectorAmbiguous
	default:
		e.decision.Err = errSelectorInvalid
	}
	e.inactive(reason)
}

var (
	errSelectorMissing   = errors.New("selector is required")
	errSelectorInvalid   = errors.New("the target's selector cannot be understood")
	errSelectorAmbiguous = errors.New("the target's instances belong to more than one workload")
)

func (e *evaluation) inactive(reason string) {
	e.set(ScalingActive, ConditionFalse, reason,
		fmt.Sprintf("the HPA was unable to compute the replica count: %v", e.decision.Err))
}

// aboveTarget is the reason of a rescale that the winning metric asked for.
func (e *evaluation) aboveTarget() string { return e.spec.Metrics[e.decision.Winner].above }
