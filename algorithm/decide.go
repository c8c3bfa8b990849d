package algorithm

import (
	"fmt"
	"slices"
	"time"
)

// Decide says what should happen to a workload, given the time, its rules, what was remembered
// and what was seen. The State it returns is what stands if nothing is written to the target.
// After a Decision with Rescale the caller writes Desired to the target and calls [Applied] with
// the outcome.
//
// Decide never fails: what is wrong with the observation is in Decision.Err, in the conditions
// and in the decision not to scale. It changes none of its arguments.
func Decide(now time.Time, spec *Spec, state State, obs *Observation) (Decision, State) {
	if !spec.complete {
		completed := spec.WithDefaults()
		spec = &completed
	}
	e := evaluation{
		now: now, spec: spec, obs: obs, state: state,
		decision: Decision{
			Time:         now,
			SpecReplicas: obs.SpecReplicas, StatusReplicas: obs.StatusReplicas,
			PreviousReplicas: state.Status.CurrentReplicas,
			Selector:         obs.Selector,
			Desired:          obs.SpecReplicas,
			Winner:           -1,
		},
	}
	e.run()
	return e.decision, e.state
}

// evaluation is a Decide in progress.
type evaluation struct {
	now  time.Time
	spec *Spec
	obs  *Observation
	// begun is true if this evaluation made the first recommendation.
	begun    bool
	decision Decision
	state    State
}

// run is section 4.
func (e *evaluation) run() {
	if e.obs.TargetErr != nil {
		e.targetFailed()
		return
	}
	e.set(AbleToScale, ConditionTrue, ReasonSucceededGetScale, messageSucceededGetScale)
	e.begin()
	e.state.Status.CurrentReplicas = e.obs.SpecReplicas
	switch s := e.obs.SpecReplicas; {
	case s == 0 && !e.returnsFromZero():
		e.disabled()
	case s == 0:
		e.byMetrics()
	case s > e.spec.MaxReplicas:
		e.enforce(PathAboveMax, e.spec.MaxReplicas, reasonAboveMax)
	case s < e.spec.MinReplicas:
		e.enforce(PathBelowMin, e.spec.MinReplicas, reasonBelowMin)
	default:
		e.byMetrics()
	}
}

func (e *evaluation) targetFailed() {
	err := e.obs.TargetErr
	e.decision.Path = PathTargetFailed
	e.decision.Err = err
	e.set(AbleToScale, ConditionFalse, ReasonFailedGetScale,
		fmt.Sprintf("the HPA controller was unable to get the target's current scale: %v", err))
}

// begin makes the size found by the first evaluation a recommendation, so that a restart never
// scales down at once. It is the first one, unless a State was saved and continued later: then the
// recommendations in it are still known.
func (e *evaluation) begin() {
	if e.state.Memory.Begun {
		return
	}
	e.begun = true
	e.state.Memory.Begun = true
	known := e.state.Memory.Recommendations
	found := Recommendation{Replicas: e.obs.SpecReplicas, Time: InstantOf(e.now)}
	e.state.Memory.Recommendations = append(slices.Clip(known), found)
}

// returnsFromZero tells whether a target at 0 is scaled: only if it went there by itself.
func (e *evaluation) returnsFromZero() bool {
	byItself := e.spec.ScaleToZero && e.state.Status.Conditions[ScaledToZero].Status == ConditionTrue
	return byItself && (e.spec.MinReplicas != 0 || e.spec.total)
}

func (e *evaluation) disabled() {
	e.decision.Path = PathDisabled
	e.set(ScalingActive, ConditionFalse, ReasonScalingDisabled, messageScalingDisabled)
	if !e.spec.ScaleToZero {
		e.state.Status.Conditions[ScaledToZero] = Condition{}
	}
	e.settle(e.obs.SpecReplicas)
}

func (e *evaluation) enforce(path Path, bound int32, reason string) {
	e.decision.Path = path
	e.decision.Reason = reason
	e.settle(bound)
}

// settle ends an evaluation that got through.
func (e *evaluation) settle(desired int32) {
	e.decision.Desired = desired
	e.decision.Rescale = desired != e.obs.SpecReplicas
	if !e.decision.Rescale {
		e.decision.Reason = ""
		e.state.Status.DesiredReplicas = desired
	}
}

// byMetrics is section 4.5.
func (e *evaluation) byMetrics() {
	e.decision.Path = PathMetrics
	replicas, ok := e.evaluateMetrics()
	if !ok {
		return
	}
	raw := max(replicas, 0)
	e.decision.Recommended, e.decision.Recommendation = true, raw
	switch s := e.obs.SpecReplicas; {
	case raw > s:
		e.decision.Reason = e.aboveTarget()
	case raw < s:
		e.decision.Reason = reasonBelowTarget
	}
	var desired int32
	if e.spec.Behavior == nil {
		desired = e.limitPlainly(e.stabilizePlainly(raw))
	} else {
		desired = e.limitByPolicies(e.stabilizeByWindows(raw))
	}
	e.settle(e.raiseFromZero(desired))
}

// raiseFromZero keeps a return from 0 from stopping below min.
func (e *evaluation) raiseFromZero(desired int32) int32 {
	if e.obs.SpecReplicas != 0 || desired >= e.spec.MinReplicas {
		return desired
	}
	e.decision.RaisedToMin = true
	if e.decision.Reason == "" {
		e.decision.Reason = reasonBelowMin
	}
	return e.spec.MinReplicas
}

func (e *evaluation) set(t ConditionType, s ConditionStatus, reason, message string) {
	e.state.Status.Conditions.set(t, e.now, s, reason, message)
}
