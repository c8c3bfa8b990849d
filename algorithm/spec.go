package algorithm

import "time"

// Spec is what the operator asked for: the rules of one workload and the daemon-wide settings
// that apply to it. Make it complete with [Spec.WithDefaults] before it is decided upon.
type Spec struct {
	// MinReplicas ≥ 1, or 0 with ScaleToZero; MaxReplicas ≥ MinReplicas.
	MinReplicas, MaxReplicas int32
	// Metrics; none means CPU at 80 % of the request.
	Metrics []Metric
	// Behavior is nil if the operator wrote none, which is not the same as an empty one
	// (docs/semantics.md, section 22.22).
	Behavior *Behavior
	// ScaleToZero allows 0 replicas (HPA: the feature gate HPAScaleToZero).
	ScaleToZero bool
	Settings    Settings

	// All below is made by WithDefaults: whether it ran, whether there is an object or external
	// metric, and the tolerance that applies.
	complete, total bool
	tolerance       tolerance
}

// Settings are the daemon-wide numbers of docs/semantics.md, section 2.1.
type Settings struct {
	// Tolerance is the distance of the usage ratio from 1 within which nothing changes; 0.1 is 10 %.
	Tolerance float64
	// DownscaleStabilization is the default stabilization window of scaling down.
	DownscaleStabilization time.Duration
	// CPUInitializationPeriod after its start, the CPU samples of an instance count only once it
	// is ready and the sample began after that.
	CPUInitializationPeriod time.Duration
	// InitialReadinessDelay after its start, an instance that was never ready is unready.
	InitialReadinessDelay time.Duration
}

// DefaultSettings returns the HPA's defaults: 0.1, 5 min, 5 min, 30 s.
func DefaultSettings() Settings {
	return Settings{
		Tolerance:               0.1,
		DownscaleStabilization:  5 * time.Minute,
		CPUInitializationPeriod: 5 * time.Minute,
		InitialReadinessDelay:   30 * time.Second,
	}
}

// Metric is one question the operator asks: what to look at, and the level it should have.
type Metric struct {
	Type MetricType
	// Name is the resource ("cpu", "memory") or the metric's name.
	Name string
	// Container is required for TypeContainerResource.
	Container string
	// Object names what an object metric describes, for texts ("Service", "Ingress", …).
	Object string
	Target TargetValue

	// label is the text of upstream for this metric, found the message of its condition, above the
	// reason it gives for a rescale; all are made once by WithDefaults.
	label, found, above string
}

// MetricType is one of the HPA's five; the text is the word of the configuration.
type MetricType string

// The metric types. TypeInstances is the HPA's "Pods".
const (
	TypeResource          MetricType = "resource"
	TypeContainerResource MetricType = "container_resource"
	TypeInstances         MetricType = "instances"
	TypeObject            MetricType = "object"
	TypeExternal          MetricType = "external"
)

// TargetValue is the level a metric should have.
type TargetValue struct {
	Kind TargetKind
	// Value is a percentage for KindAverageUtilization (≥ 1), else thousandths (> 0).
	Value int64
}

// TargetKind says how a metric's target value is meant; the text is the key of the configuration.
type TargetKind string

// The kinds of target value. The empty kind is an error of the metric.
const (
	KindAverageUtilization TargetKind = "average_utilization"
	KindAverageValue       TargetKind = "average_value"
	KindValue              TargetKind = "value"
)

// Behavior holds the rules of both directions.
type Behavior struct {
	ScaleUp, ScaleDown Rules
}

// Rules limit changes in one direction. A nil field takes its default (section 2.2).
type Rules struct {
	// StabilizationWindow is 0 … 1 h.
	StabilizationWindow *time.Duration
	SelectPolicy        SelectPolicy
	// Tolerance replaces Settings.Tolerance for this direction.
	Tolerance *float64
	// Policies, if not nil, are not merged with the default list.
	Policies []Policy
}

// SelectPolicy says which policy wins; the text is the word of the configuration.
type SelectPolicy string

// Select policies; the empty one is Max.
const (
	SelectMax      SelectPolicy = "max"
	SelectMin      SelectPolicy = "min"
	SelectDisabled SelectPolicy = "disabled"
)

// Policy is one rate limit: so many instances, or so many percent, per period.
type Policy struct {
	Type PolicyType
	// Value > 0.
	Value int32
	// Period is 1 s … 30 min, whole seconds.
	Period time.Duration
}

// PolicyType is the unit of a policy; the text is the word of the configuration.
type PolicyType string

// The policy types. PolicyInstances is the HPA's "Pods".
const (
	PolicyInstances PolicyType = "instances"
	PolicyPercent   PolicyType = "percent"
)
