// Package api holds what hpad's HTTP API answers, for the daemon and the commands that ask it.
// The JSON is a contract with users: fields are added, never renamed or removed.
package api

import "time"

// WorkloadList answers GET /api/v1/workloads.
type WorkloadList struct {
	Workloads []Workload `json:"workloads"`
}

// Workload answers GET /api/v1/workloads/NAME. It describes the last evaluation.
type Workload struct {
	Name string `json:"name"`
	// Target is the canonical identity, Via the name of the [targets.NAME] table.
	Target string `json:"target"`
	Via    string `json:"via"`
	DryRun bool   `json:"dry_run,omitempty"`
	// Disabled is true while the target stands at 0 replicas because somebody set it so.
	Disabled    bool  `json:"disabled,omitempty"`
	MinReplicas int32 `json:"min_replicas"`
	MaxReplicas int32 `json:"max_replicas"`
	// SpecReplicas and StatusReplicas were read by the last evaluation; DesiredReplicas is what it
	// decided. All are 0 before the first successful evaluation.
	SpecReplicas    int32       `json:"spec_replicas"`
	StatusReplicas  int32       `json:"status_replicas"`
	DesiredReplicas int32       `json:"desired_replicas"`
	Metrics         []Metric    `json:"metrics"`
	Conditions      []Condition `json:"conditions"`
	// Events are the newest last; equal ones are counted.
	Events []Event `json:"events"`
	// Warnings are what the target and the sources remarked.
	Warnings []string `json:"warnings,omitempty"`
	// Explanation is the trace of the last decision, one step per line.
	Explanation []string `json:"explanation,omitempty"`
	// Error is why the last evaluation failed.
	Error string `json:"error,omitempty"`

	Since          time.Time `json:"since,omitzero"`
	LastEvaluation time.Time `json:"last_evaluation,omitzero"`
	LastSuccess    time.Time `json:"last_success,omitzero"`
	LastScale      time.Time `json:"last_scale,omitzero"`
}

// Metric is one metric's target value and what it saw last.
type Metric struct {
	Type      string `json:"type"`
	Name      string `json:"name"`
	Container string `json:"container,omitempty"`
	Source    string `json:"source,omitempty"`
	// TargetKind is average_utilization, average_value or value; values are numbers as in the
	// configuration: percent for average_utilization, else plain units.
	TargetKind  string  `json:"target_kind"`
	TargetValue float64 `json:"target_value"`
	// CurrentValue is of the target's kind; CurrentAverage is the average behind a utilization.
	CurrentValue   *float64 `json:"current_value,omitempty"`
	CurrentAverage *float64 `json:"current_average,omitempty"`
	UsageRatio     *float64 `json:"usage_ratio,omitempty"`
	// Recommendation is the replicas this metric alone asks for.
	Recommendation *int32 `json:"recommendation,omitempty"`
	// Error and Kind say why the metric has no value.
	Error string `json:"error,omitempty"`
	Kind  string `json:"error_kind,omitempty"`
}

// Condition is one of the HPA's conditions, or one of hpad's own after them (TargetBlocked, …).
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"since,omitzero"`
}

// Event is something that happened to a workload, as in kubectl describe.
type Event struct {
	// Type is Normal or Warning.
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int       `json:"count"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// Problem is the body of every 4xx and 5xx answer (RFC 9457).
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Field names the parameter or path element that is wrong.
	Field string `json:"field,omitempty"`
}
