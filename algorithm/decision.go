package algorithm

import "time"

// Decision is the outcome of one evaluation, with the reasons for it.
type Decision struct {
	Time time.Time
	// SpecReplicas and StatusReplicas are those of the Observation.
	SpecReplicas, StatusReplicas int32
	// PreviousReplicas is the stored status' current count, i.e. SpecReplicas of the evaluation
	// before; the labels of upstream's metric counters compare with it (section 20).
	PreviousReplicas int32
	// Selector is that of the Observation.
	Selector Selector
	// Desired is the count the target should have. It equals SpecReplicas unless Rescale.
	Desired int32
	// Rescale asks the caller to write Desired to the target and then call Applied.
	Rescale bool
	// Reason is upstream's text for the rescale, fixed before the limits, so it can contradict
	// the direction (section 13). It may be empty.
	Reason string
	// Recommended tells whether Recommendation was recorded: what the metrics asked for, before
	// any limit.
	Recommended    bool
	Recommendation int32
	// Err is why the evaluation counts as failed; Rescale may be set all the same (section 5).
	Err error
	// MetricsEvaluated is false if the metrics were not looked at; Metrics is then empty.
	MetricsEvaluated bool
	Metrics          []MetricResult
	// Winner is the index of the metric whose proposal was taken; -1 if there is none.
	Winner int
	// Path says which branch of section 4 was taken.
	Path Path
	// Stabilization and Limit are meaningful if Recommended.
	Stabilization Stabilization
	Limit         Limit
	// RaisedToMin is set where coming back from 0 ended below min and was raised (section 4.5.6).
	RaisedToMin bool
}

// Path is the branch of section 4 an evaluation took.
type Path uint8

// The branches.
const (
	PathTargetFailed Path = iota
	PathDisabled
	PathAboveMax
	PathBelowMin
	PathMetrics
)

// MetricResult is what one metric saw and asked for.
type MetricResult struct {
	// Err is nil if the metric worked.
	Err error
	// Reason is the condition reason of a failed metric ("FailedGetResourceMetric", …).
	Reason string
	// Proposal is the replicas this metric alone asks for (upstream: the metric's proposal).
	Proposal int32
	// UsageRatio is the first ratio of measured over target value; SettledRatio the one after
	// missing and unready instances were filled in. They are equal if nothing was filled in.
	UsageRatio, SettledRatio float64
	// Within is true if the ratio that decided was inside the tolerance.
	Within bool
	// Kept says why the proposal is the present count although the usage ratio is not 1.
	Kept Kept
	// Current are the measured values as the HPA's status shows them.
	Current CurrentValue
	// Ready, Unready, Missing, Ignored count the instances as grouped by section 7.
	Ready, Unready, Missing, Ignored int32
}

// Kept is why a metric proposes no change.
type Kept uint8

// Reasons to keep the present count. KeptFlipped: filling in missing and unready instances turned
// the direction around. KeptContrary: the count computed lies on the other side of the present one.
const (
	NotKept Kept = iota
	KeptWithin
	KeptFlipped
	KeptContrary
)

// CurrentValue is the measured value of a metric; which fields are set depends on its kind.
type CurrentValue struct {
	HasUtilization, HasAverage, HasValue bool
	// Utilization is in percent of the request.
	Utilization int32
	Average     Quantity
	Value       Quantity
}

// Stabilization is what the windows did with the recommendation (sections 13 and 14).
type Stabilization struct {
	// Low and High are the recommendations the up and down window allow; without behavior only
	// High is used.
	Low, High int32
	// LowSince and HighSince are when these were recommended; zero if just now.
	LowSince, HighSince time.Time
	// Result is the stabilized recommendation.
	Result int32
	// Held is true if a window changed the recommendation.
	Held bool
}

// Limit is what policies and bounds did with the stabilized recommendation (sections 13 and 15).
type Limit struct {
	// Policies is empty if no policy was asked, i.e. without behavior or if the stabilized
	// recommendation equals the spec replicas.
	Policies []PolicyResult
	// Limited and Reason are those of the condition ScalingLimited.
	Limited bool
	Reason  string
	// Cap is the bound that applied: the policies', min or max.
	Cap int32
}

// PolicyResult is what one policy allowed: Start is the count at the begin of its period, Limit
// how far it lets the replicas go.
type PolicyResult struct {
	Policy       Policy
	Start, Limit int32
}
