// Package scenario replays recorded situations through the algorithm.
//
// A [Scenario] is one line of JSON: the rules of a workload, and steps of what was seen at which
// second. [Read] reads them, [Run] decides step by step and carries the decisions out on a target
// that exists only as a number. The conformance vectors have this format, so one reader serves
// tests, backtests and questions of the kind "what would have happened".
//
// Moments are whole seconds on the scenario's own clock, which begins at 0. Quantities are
// thousandths, utilizations are percent.
package scenario

import "encoding/json"

// Scenario is one workload over time.
type Scenario struct {
	Name string `json:"name"`
	// Seed and Source say where it comes from; Tags name what it uses.
	Seed     json.RawMessage `json:"seed,omitempty"`
	Source   string          `json:"source,omitempty"`
	Tags     []string        `json:"tags,omitempty"`
	Workload Workload        `json:"workload"`
	Initial  *Initial        `json:"initial,omitempty"`
	Steps    []Step          `json:"steps"`
}

// Workload is what the operator asked for. The four settings that are daemon-wide take the HPA's
// defaults; a Workload within a step does not change them.
type Workload struct {
	// MinReplicas is 1 if nil.
	MinReplicas *int32 `json:"min_replicas,omitempty"`
	MaxReplicas *int32 `json:"max_replicas"`

	Tolerance               *float64 `json:"tolerance,omitempty"`
	CPUInitializationPeriod *Seconds `json:"cpu_initialization_period_s,omitempty"`
	InitialReadinessDelay   *Seconds `json:"initial_readiness_delay_s,omitempty"`
	DownscaleStabilization  *Seconds `json:"downscale_stabilization_s,omitempty"`

	ScaleToZero bool `json:"scale_to_zero,omitempty"`
	// ConfigurableTolerance is true if nil; false drops the tolerances of Behavior.
	ConfigurableTolerance *bool `json:"configurable_tolerance,omitempty"`
	// DefaultRequests are those of an instance that tells neither requests nor containers.
	DefaultRequests Requests  `json:"default_requests,omitempty"`
	Metrics         []Metric  `json:"metrics"`
	Behavior        *Behavior `json:"behavior,omitempty"`
}

// Requests are amounts by resource, in thousandths. Empty is not the same as nil: it requests
// nothing where nil says nothing.
type Requests map[string]int64

// Metric is one metric of a workload. A type that is none of resource, container_resource, pods,
// object and external is a failure of the metric, not of the scenario. What an object metric describes
// is a Service.
type Metric struct {
	Type      string      `json:"type"`
	Name      string      `json:"name"`
	Container string      `json:"container,omitempty"`
	Target    TargetValue `json:"target"`
}

// TargetValue is the level a metric should have; Type is utilization, average_value or value.
type TargetValue struct {
	Type  string `json:"type"`
	Value int64  `json:"value"`
}

// Behavior is as the operator wrote it; what is missing takes the defaults.
type Behavior struct {
	ScaleUp   *Rules `json:"scale_up,omitempty"`
	ScaleDown *Rules `json:"scale_down,omitempty"`
}

// Rules limit changes in one direction.
type Rules struct {
	StabilizationWindow *Seconds `json:"stabilization_window_s,omitempty"`
	// SelectPolicy is Max, Min or Disabled.
	SelectPolicy string `json:"select_policy,omitempty"`
	// Tolerance is a decimal in the Kubernetes notation.
	Tolerance *string  `json:"tolerance,omitempty"`
	Policies  []Policy `json:"policies,omitempty"`
}

// Policy is one rate limit; Type is pods or percent.
type Policy struct {
	Type   string  `json:"type"`
	Value  int32   `json:"value"`
	Period Seconds `json:"period_s"`
}

// Initial is the state before the first step.
type Initial struct {
	// Recommendations, if not nil, take the place of the first recommendation a fresh process
	// makes; so does NoInitialRecommendation, with none.
	Recommendations         []Change `json:"recommendations,omitempty"`
	NoInitialRecommendation bool     `json:"no_initial_recommendation,omitempty"`
	ScaleUpEvents           []Change `json:"scale_up_events,omitempty"`
	ScaleDownEvents         []Change `json:"scale_down_events,omitempty"`
	// ScaledToZero is the condition of that name; nil if it is absent.
	ScaledToZero          *bool `json:"scaled_to_zero,omitempty"`
	StatusCurrentReplicas int32 `json:"status_current_replicas,omitempty"`
	StatusDesiredReplicas int32 `json:"status_desired_replicas,omitempty"`
}

// Change is a count at a moment: a recommendation, or the amount of a scale event.
type Change struct {
	At       Seconds `json:"at_s"`
	Replicas int32   `json:"replicas"`
}

// Step is one evaluation and what changed before it. What is nil stays as in the step before.
type Step struct {
	At       *Seconds  `json:"at_s"`
	Workload *Workload `json:"workload,omitempty"`
	// Restart drops what only a running process remembers.
	Restart      bool   `json:"restart,omitempty"`
	SpecReplicas *int32 `json:"spec_replicas,omitempty"`
	// StatusReplicas equals the spec replicas of this step if nil.
	StatusReplicas *int32     `json:"status_replicas,omitempty"`
	Instances      []Instance `json:"instances,omitempty"`
	// Samples holds one entry per metric, in their order.
	Samples []Reading `json:"samples,omitempty"`
	// Selector is ok (the default), missing, invalid or ambiguous; it holds for this step alone.
	Selector string `json:"selector,omitempty"`
	Faults   Faults `json:"faults,omitzero"`
	// Expect is what should come out; nil if nobody said.
	Expect *Result `json:"expect,omitempty"`
}

// Faults are what goes wrong in one step.
type Faults struct {
	// GetTarget is error, SetTarget error, conflict (at every try) or conflict_once (the second try
	// succeeds), SaveStatus error.
	GetTarget  string `json:"get_target,omitempty"`
	SetTarget  string `json:"set_target,omitempty"`
	SaveStatus string `json:"save_status,omitempty"`
}

// Instance is one running unit of the target.
type Instance struct {
	ID string `json:"id"`
	// Phase is pending, running (the default), succeeded, failed or unknown.
	Phase    string `json:"phase,omitempty"`
	Deleting bool   `json:"deleting,omitempty"`
	// Ready is yes (the default), no, unknown or absent.
	Ready   string   `json:"ready,omitempty"`
	Started *Seconds `json:"started_s,omitempty"`
	// ReadyTransition is Started if nil.
	ReadyTransition *Seconds `json:"ready_transition_s,omitempty"`
	// Requests belong to one container named main, unless there are Containers.
	Requests   Requests    `json:"requests,omitempty"`
	Containers []Container `json:"containers,omitempty"`
	// InstanceRequests are declared for the instance as a whole.
	InstanceRequests Requests `json:"instance_requests,omitempty"`
}

// Container is a part of an instance.
type Container struct {
	Name string `json:"name"`
	// Kind is main (the default), sidecar, or init: a container that ends before the others start.
	Kind     string   `json:"kind,omitempty"`
	Requests Requests `json:"requests,omitempty"`
}

// Reading is what a source answered for one metric: an error, or samples.
type Reading struct {
	Error  string   `json:"error,omitempty"`
	Values []Sample `json:"values,omitempty"`
}

// Sample is one measured value: of an instance, or of a series of an object or external metric.
type Sample struct {
	Instance string `json:"instance,omitempty"`
	Value    int64  `json:"value_milli"`
	// Timestamp is the moment of the step that uses the sample if nil; Window is 60 if nil.
	Timestamp *Seconds `json:"timestamp_s,omitempty"`
	Window    *Seconds `json:"window_s,omitempty"`
}
