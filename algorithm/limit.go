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
		if limit := max(s, e.policyLimit(&e.spec.Behavior.ScaleUp, true)); e.spec.MaxReplicas > limit {
			ceiling, reason = limit, ReasonScaleUpLimit
		}
		if stabilized > ceiling {
			return e.limited(ceiling, reason)
		}
	case stabilized < s:
		floor, reason := e.spec.MinReplicas, ReasonTooFewReplicas
		if limit := min(s, e.policyLimit(&e.spec.Behavior.ScaleDown, false)); e.spec.MinReplicas < limit {
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

// policyLimit is how far the policies of a direction let the present count go: the largest change
// any of them allows, or with select policy Min the smallest.
func (e *evaluation) policyLimit(rules *Rules, up bool) int32 {
	s := e.obs.SpecReplicas
	if rules.SelectPolicy == SelectDisabled {
		return s
	}
	highest := up != (rules.SelectPolicy == SelectMin)
	// Of an empty list, which no validation lets through, upstream makes these.
	limit := int32(math.MaxInt32)
	if highest {
		limit = math.MinInt32
	}
	results := make([]PolicyResult, len(rules.Policies))
	for i, p := range rules.Policies {
		added := sumSince(e.state.Memory.ScaleUps, e.now, p.Period)
		removed := sumSince(e.state.Memory.ScaleDowns, e.now, p.Period)
		start := s - added + removed
		allowed := p.limit(start, up)
		results[i] = PolicyResult{Policy: p, Start: start, Limit: allowed}
		if highest {
			limit = max(limit, allowed)
		} else {
			limit = min(limit, allowed)
		}
	}
	e.decision.Limit.Policies = results
	return limit
}

// limit is how far one policy lets a count go that was start at the begin of its period. Sums wrap,
// as the HPA's; a percentage is computed in exactly this form.
func (p Policy) limit(start int32, up bool) int32 {
	share := float64(p.Value) / 100
	switch percent := p.Type == PolicyPercent; {
	case percent && up:
		return ceil32(float64(start) * (1 + share))
	case percent:
		return saturate32(float64(start) * (1 - share))
	case up:
		return start + p.Value
	}
	return start - p.Value
}
