package algorithm

import "math"

// limitPlainly is section 13, steps 4 to 6: without behavior, one evaluation at most doubles the
// count, or brings it to 4.
func (e *evaluation) limitPlainly(stabilized int32) int32 {
	limit := saturate32(math.Max(2*float64(e.obs.SpecReplicas), 4))
	ceiling, reason := e.spec.MaxReplicas, ReasonTooManyReplicas
	if e.spec.MaxReplicas > limit {
		ceiling, reason = limit, ReasonScaleUpLimit
	}
	switch {
	case stabilized < e.spec.MinReplicas:
		return e.limited(e.spec.MinReplicas, ReasonTooFewReplicas)
	case stabilized > ceiling:
		return e.limited(ceiling, reason)
	}
	return e.unlimited(stabilized)
}

// limitByPolicies is section 15.
func (e *evaluation) limitByPolicies(stabilized int32) int32 {
	switch s := e.obs.SpecReplicas; {
	case stabilized > s:
		ceiling, reason := e.spec.MaxReplicas, ReasonTooManyReplicas
		if limit := max(s, e.policyLimit(&e.spec.Behavior.ScaleUp, limitUp)); e.spec.MaxReplicas > limit {
			ceiling, reason = limit, ReasonScaleUpLimit
		}
		if stabilized > ceiling {
			return e.limited(ceiling, reason)
		}
	case stabilized < s:
		floor, reason := e.spec.MinReplicas, ReasonTooFewReplicas
		if limit := min(s, e.policyLimit(&e.spec.Behavior.ScaleDown, limitDown)); e.spec.MinReplicas < limit {
			floor, reason = limit, ReasonScaleDownLimit
		}
		if stabilized < floor {
			return e.limited(floor, reason)
		}
	}
	return e.unlimited(stabilized)
}

func (e *evaluation) limited(bound int32, reason string) int32 {
	e.decision.Limit.Limited, e.decision.Limit.Reason, e.decision.Limit.Cap = true, reason, bound
	e.set(ScalingLimited, ConditionTrue, reason, limitMessage(reason))
	return bound
}

func (e *evaluation) unlimited(replicas int32) int32 {
	e.decision.Limit.Reason, e.decision.Limit.Cap = ReasonDesiredWithinRange, replicas
	e.set(ScalingLimited, ConditionFalse, ReasonDesiredWithinRange, limitMessage(ReasonDesiredWithinRange))
	return replicas
}

// direction is what differs between the policies of the two directions.
type direction struct {
	apply func(Policy, int32) int32
	// most and least change: which of two limits.
	most, least func(int32, int32) int32
}

var (
	limitUp = direction{
		apply: Policy.up,
		most:  func(a, b int32) int32 { return max(a, b) },
		least: func(a, b int32) int32 { return min(a, b) },
	}
	limitDown = direction{
		apply: Policy.down,
		most:  func(a, b int32) int32 { return min(a, b) },
		least: func(a, b int32) int32 { return max(a, b) },
	}
)

// policyLimit is how far the policies of a direction let the present count go.
func (e *evaluation) policyLimit(rules *Rules, dir direction) int32 {
	s := e.obs.SpecReplicas
	if rules.SelectPolicy == SelectDisabled || len(rules.Policies) == 0 {
		return s
	}
	choose := dir.most
	if rules.SelectPolicy == SelectMin {
		choose = dir.least
	}
	var limit int32
	results := make([]PolicyResult, len(rules.Policies))
	for i, p := range rules.Policies {
		added := sumSince(e.state.Memory.ScaleUps, e.now, p.Period)
		removed := sumSince(e.state.Memory.ScaleDowns, e.now, p.Period)
		start := s - added + removed
		results[i] = PolicyResult{Policy: p, Start: start, Limit: dir.apply(p, start)}
		if i == 0 {
			limit = results[i].Limit
		}
		limit = choose(limit, results[i].Limit)
	}
	e.decision.Limit.Policies = results
	return limit
}

// up and down: sums wrap, as the HPA's; a percentage is computed in exactly this form.

func (p Policy) up(start int32) int32 {
	if p.Type == PolicyPercent {
		return ceil32(float64(start) * (1 + float64(p.Value)/100))
	}
	return start + p.Value
}

func (p Policy) down(start int32) int32 {
	if p.Type == PolicyPercent {
		return saturate32(float64(start) * (1 - float64(p.Value)/100))
	}
	return start - p.Value
}
