package algorithm

import "time"

// Reasons of conditions and events (docs/semantics.md, sections 18 and 19).
const (
	ReasonFailedGetScale      = "FailedGetScale"
	ReasonSucceededGetScale   = "SucceededGetScale"
	ReasonReadyForNewScale    = "ReadyForNewScale"
	ReasonScaleDownStabilized = "ScaleDownStabilized"
	ReasonScaleUpStabilized   = "ScaleUpStabilized"
	ReasonSucceededRescale    = "SucceededRescale"
	ReasonFailedUpdateScale   = "FailedUpdateScale"

	ReasonScalingDisabled   = "ScalingDisabled"
	ReasonInvalidSelector   = "InvalidSelector"
	ReasonAmbiguousSelector = "AmbiguousSelector"
	ReasonValidMetricFound  = "ValidMetricFound"

	ReasonFailedGetResourceMetric          = "FailedGetResourceMetric"
	ReasonFailedGetContainerResourceMetric = "FailedGetContainerResourceMetric"
	ReasonFailedGetPodsMetric              = "FailedGetPodsMetric"
	ReasonFailedGetObjectMetric            = "FailedGetObjectMetric"
	ReasonFailedGetExternalMetric          = "FailedGetExternalMetric"
	ReasonInvalidMetricSourceType          = "InvalidMetricSourceType"

	ReasonTooFewReplicas     = "TooFewReplicas"
	ReasonTooManyReplicas    = "TooManyReplicas"
	ReasonScaleUpLimit       = "ScaleUpLimit"
	ReasonScaleDownLimit     = "ScaleDownLimit"
	ReasonDesiredWithinRange = "DesiredWithinRange"

	ReasonScaledToZero    = "ScaledToZero"
	ReasonNotScaledToZero = "NotScaledToZero"

	ReasonSuccessfulRescale            = "SuccessfulRescale"
	ReasonFailedRescale                = "FailedRescale"
	ReasonFailedComputeMetricsReplicas = "FailedComputeMetricsReplicas"
	ReasonSelectorRequired             = "SelectorRequired"
	ReasonFailedUpdateStatus           = "FailedUpdateStatus"
)

// The reasons of a rescale (section 19), beside "⟨metric⟩ above target".
const (
	reasonBelowTarget = "All metrics below target"
	reasonAboveMax    = "Current number of replicas above Spec.MaxReplicas"
	reasonBelowMin    = "Current number of replicas below Spec.MinReplicas"
)

// Messages that never vary; the others are made where they are set.
const (
	messageSucceededGetScale = "the HPA controller was able to get the target's current scale"
	messageReadyForNewScale  = "recommended size matches current size"
	messageHeldUp            = "recent recommendations were higher than current one, " +
		"applying the highest recent recommendation"
	messageHeldDown = "recent recommendations were lower than current one, " +
		"applying the lowest recent recommendation"
	messageScalingDisabled = "scaling is disabled since the replica count of the target is zero"
	messageScaledToZero    = "the HPA controller scaled the target to zero"
	messageNotScaledToZero = "the HPA controller has not scaled the target to zero"
)

// String is the name of the HPA.
func (t ConditionType) String() string {
	names := [numConditions]string{"AbleToScale", "ScalingActive", "ScalingLimited", "ScaledToZero"}
	if t >= numConditions {
		return "Unknown"
	}
	return names[t]
}

// set changes a condition; Since changes only with the status.
func (c *Conditions) set(t ConditionType, now time.Time, s ConditionStatus, reason, message string) {
	condition := &c[t]
	if condition.Status != s {
		condition.Since = now
	}
	condition.Status, condition.Reason, condition.Message = s, reason, message
}

// limitMessage is the text of ScalingLimited for a reason.
func limitMessage(reason string) string {
	switch reason {
	case ReasonTooFewReplicas:
		return "the desired replica count is less than the minimum replica count"
	case ReasonTooManyReplicas:
		return "the desired replica count is more than the maximum replica count"
	case ReasonScaleUpLimit:
		return "the desired replica count is increasing faster than the maximum scale rate"
	case ReasonScaleDownLimit:
		return "the desired replica count is decreasing faster than the maximum scale rate"
	}
	return "the desired count is within the acceptable range"
}
