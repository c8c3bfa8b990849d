package algorithm

import "time"

// State is what an evaluation leaves for the next one. It is plain data: it can be saved as JSON
// and loaded again, and a copied State is independent of its origin as long as both only pass
// through this package, which never writes into a State's slices.
type State struct {
	// Memory is lost when upstream's controller restarts; Status is stored with its object.
	Memory Memory `json:"memory"`
	Status Status `json:"status"`
}

// Memory is what upstream's controller keeps in memory per autoscaler (section 1).
type Memory struct {
	// Begun is true once there is a list of recommendations, be it empty. Who continues a saved
	// State after a while in which nothing was evaluated sets it to false: the next evaluation then
	// adds the size it finds to the recommendations, as a first one does.
	Begun           bool             `json:"begun"`
	Recommendations []Recommendation `json:"recommendations,omitempty"`
	ScaleUps        []ScaleEvent     `json:"scale_ups,omitempty"`
	ScaleDowns      []ScaleEvent     `json:"scale_downs,omitempty"`
}

// Recommendation is what the metrics of one evaluation asked for, before any limit.
type Recommendation struct {
	Replicas int32   `json:"replicas"`
	Time     Instant `json:"time"`
}

// ScaleEvent is a change that was applied: by how many replicas (≥ 0), and when.
type ScaleEvent struct {
	Replicas int32   `json:"replicas"`
	Time     Instant `json:"time"`
	// Outdated entries may be overwritten; they still count in sums (section 16).
	Outdated bool `json:"outdated,omitempty"`
}

// Status is the stored status of the autoscaler (HPA: .status).
type Status struct {
	// CurrentReplicas is the spec replicas read by the last evaluation, DesiredReplicas what it
	// wanted; both are 0 until the first evaluation that gets through.
	CurrentReplicas int32 `json:"current_replicas"`
	DesiredReplicas int32 `json:"desired_replicas"`
	// LastScaleTime is zero if nothing was scaled yet.
	LastScaleTime time.Time  `json:"last_scale_time,omitzero"`
	Conditions    Conditions `json:"conditions"`
}

// Conditions holds one condition per type, indexed by ConditionType.
type Conditions [numConditions]Condition

// ConditionType is one of the HPA's four.
type ConditionType uint8

// The conditions, in the order kubectl describe shows them.
const (
	AbleToScale ConditionType = iota
	ScalingActive
	ScalingLimited
	ScaledToZero
	numConditions
)

// Condition is one statement about the workload. The zero Condition was never set.
type Condition struct {
	Status ConditionStatus `json:"status,omitempty"`
	Reason string          `json:"reason,omitempty"`
	// Message is for people; its wording is upstream's.
	Message string `json:"message,omitempty"`
	// Since is the time of the last change of Status.
	Since time.Time `json:"since,omitzero"`
}

// ConditionStatus is "True" or "False"; empty if the condition is absent.
type ConditionStatus string

// Condition statuses.
const (
	ConditionTrue  ConditionStatus = "True"
	ConditionFalse ConditionStatus = "False"
)
