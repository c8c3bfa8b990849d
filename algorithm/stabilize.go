package algorithm

import "time"

// stabilizePlainly is section 13, steps 1 to 3: without behavior, the highest recommendation of
// the downscale stabilization window stands, even above the present count.
func (e *evaluation) stabilizePlainly(raw int32) int32 {
	recs := e.state.Memory.Recommendations
	window := e.spec.Settings.DownscaleStabilization
	oldest := InstantOf(e.now).Add(-window)
	st := Stabilization{Low: raw, High: raw}
	replace := -1
	for i := range recs {
		// Upstream reads its clock again here: to a window of 0 the entry just made is old.
		justMade := e.begun && window == 0
		switch rec := &recs[i]; {
		case rec.Time < oldest || justMade:
			replace = i
		case rec.Replicas > st.High:
			st.High, st.HighSince = rec.Replicas, rec.Time.Time()
		}
	}
	st.Result = st.High
	st.Held = st.Result != raw
	e.record(raw, replace)
	e.decision.Stabilization = st
	if st.Held {
		e.set(AbleToScale, ConditionTrue, ReasonScaleDownStabilized, messageHeldUp)
	} else {
		e.set(AbleToScale, ConditionTrue, ReasonReadyForNewScale, messageReadyForNewScale)
	}
	return st.Result
}

// stabilizeByWindows is section 14: the present count moves no further than the mildest
// recommendation of each direction's window.
func (e *evaluation) stabilizeByWindows(raw int32) int32 {
	recs := e.state.Memory.Recommendations
	upOldest := InstantOf(e.now).Add(-*e.spec.Behavior.ScaleUp.StabilizationWindow)
	downOldest := InstantOf(e.now).Add(-*e.spec.Behavior.ScaleDown.StabilizationWindow)
	st := Stabilization{Low: raw, High: raw}
	replace := -1
	for i := range recs {
		rec := &recs[i]
		if rec.Replicas < st.Low && rec.Time > upOldest {
			st.Low, st.LowSince = rec.Replicas, rec.Time.Time()
		}
		if rec.Replicas > st.High && rec.Time > downOldest {
			st.High, st.HighSince = rec.Replicas, rec.Time.Time()
		}
		if rec.Time < upOldest && rec.Time < downOldest {
			replace = i
		}
	}
	st.Result = min(max(e.obs.SpecReplicas, st.Low), st.High)
	st.Held = st.Result != raw
	e.record(raw, replace)
	e.decision.Stabilization = st
	e.setStabilized(raw, st.Held)
	return st.Result
}

func (e *evaluation) setStabilized(raw int32, held bool) {
	switch {
	case !held:
		e.set(AbleToScale, ConditionTrue, ReasonReadyForNewScale, messageReadyForNewScale)
	case raw >= e.obs.SpecReplicas:
		e.set(AbleToScale, ConditionTrue, ReasonScaleUpStabilized, messageHeldDown)
	default:
		e.set(AbleToScale, ConditionTrue, ReasonScaleDownStabilized, messageHeldUp)
	}
}

// record remembers a recommendation in place of entry i, or as a new one if i is negative.
func (e *evaluation) record(raw int32, i int) {
	old := e.state.Memory.Recommendations
	n := len(old)
	if i < 0 {
		i, n = n, n+1
	}
	recs := make([]Recommendation, n)
	copy(recs, old)
	recs[i] = Recommendation{Replicas: raw, Time: InstantOf(e.now)}
	e.state.Memory.Recommendations = recs
}

// sumSince adds the events younger than a period; the sum wraps.
func sumSince(events []ScaleEvent, now time.Time, period time.Duration) int32 {
	oldest := InstantOf(now).Add(-period)
	var sum int32
	for i := range events {
		if events[i].Time > oldest {
			sum += events[i].Replicas
		}
	}
	return sum
}
