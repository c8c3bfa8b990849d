package scenario

import (
	"encoding/json"

	"github.com/hpad/hpad/algorithm"
)

// Outcome is what became of a scenario, one Result per step.
type Outcome struct {
	Name  string   `json:"name"`
	Steps []Result `json:"steps"`

	// specs are what the steps were decided upon.
	specs []algorithm.Spec
}

// Explain is the trace of the decision of one step, counted from 0, for people.
func (o *Outcome) Explain(step int) []string {
	return o.Steps[step].Decision.Explain(&o.specs[step])
}

// Result is what one step left behind, in the words of the HPA.
type Result struct {
	// SpecReplicas is what the target has after the step.
	SpecReplicas int32 `json:"spec_replicas"`
	// Rescaled is true if the target was written; RescaleReason is why that was tried, which even
	// then may be empty.
	Rescaled      bool   `json:"rescaled"`
	RescaleReason string `json:"rescale_reason,omitempty"`
	// DesiredReplicas, CurrentReplicas and Conditions are the stored status, which keeps older
	// values where a step failed.
	DesiredReplicas int32 `json:"desired_replicas"`
	CurrentReplicas int32 `json:"current_replicas"`
	// Recommendation is what the metrics asked for, before limits; nil if nothing was recorded.
	Recommendation *int32 `json:"recommendation,omitempty"`
	// Error is true if the evaluation failed, possibly although it rescaled.
	Error bool `json:"error"`
	// Action and ErrorLabel are the labels of the HPA's counter of evaluations.
	Action     string `json:"action"`
	ErrorLabel string `json:"error_label"`
	// Conditions are status and reason by type.
	Conditions map[string][2]string `json:"conditions"`
	// Metrics is nil if the metrics were not evaluated.
	Metrics []MetricResult `json:"metrics,omitempty"`
	// Events are "Type:Reason", in order.
	Events []string `json:"events,omitempty"`

	// Decision explains the step. Its Time is on a clock that begins in the year 2000.
	Decision algorithm.Decision `json:"-"`
}

// MetricResult is what one metric asked for and measured.
type MetricResult struct {
	// Action and Error are the labels of the HPA's counter of metrics.
	Action   string `json:"action"`
	Error    string `json:"error,omitempty"`
	Proposal *int32 `json:"proposal,omitempty"`

	AverageUtilization *int32 `json:"average_utilization,omitempty"`
	AverageValue       *int64 `json:"average_value_milli,omitempty"`
	Value              *int64 `json:"value_milli,omitempty"`
	// PlatformDependent marks an expectation without current value, which would be a division by
	// zero status replicas.
	PlatformDependent bool `json:"platform_dependent,omitempty"`
}

// UnmarshalJSON reads an expectation. Unlike the rest of a scenario it may say more than is known
// here.
func (r *Result) UnmarshalJSON(text []byte) error {
	type plain Result
	return json.Unmarshal(text, (*plain)(r))
}

// The labels of the HPA's counters (docs/semantics.md, section 20).
const (
	scaleUp       = "scale_up"
	scaleDown     = "scale_down"
	none          = "none"
	internalError = "internal"
	specError     = "spec"
)

func action(from, to int32) string {
	switch {
	case to > from:
		return scaleUp
	case to < from:
		return scaleDown
	}
	return none
}
