package algorithm

import "time"

// Observation is all that one evaluation saw.
type Observation struct {
	// TargetErr says that the target could not be read. Everything else is then ignored.
	TargetErr error
	// SpecReplicas is the wanted count written in the target, StatusReplicas the count the target
	// says it has. They differ while the target is being resized.
	SpecReplicas, StatusReplicas int32
	// Selector tells whether the instances of the target can be told from those of others.
	Selector Selector
	// Instances are all instances of the target, whatever SpecReplicas is, in any order.
	Instances []Instance
	// Readings holds one entry per metric of the Spec, in its order. A missing entry reads as an
	// empty answer, which is an error of that metric.
	Readings []Reading
}

// Selector is the state of the target's instance selector (HPA: the scale subresource's selector).
type Selector uint8

// The states of a selector. Two workloads on one target see SelectorAmbiguous.
const (
	SelectorOK Selector = iota
	SelectorMissing
	SelectorInvalid
	SelectorAmbiguous
)

// Instance is one running unit of a target (HPA: a pod).
type Instance struct {
	// ID is unique within the target.
	ID    string
	Phase Phase
	// Deleting is true for an instance that is marked for removal.
	Deleting bool
	Ready    Readiness
	// Started is the zero Time if the start is not known.
	Started time.Time
	// ReadyTransition is the time of the last change of Ready; the zero Time means the distant past.
	ReadyTransition time.Time
	// Containers carry the requests. An instance without parts has one container.
	Containers []Container
	// Requests are made for the instance as a whole. A resource named here is not looked for in
	// the containers, unless a metric asks for a container (HPA: pod-level resources).
	Requests []Request
}

// Container is a part of an instance that requests resources of its own: a container of a
// Kubernetes pod, a task of a Nomad allocation.
type Container struct {
	Name     string
	Requests []Request
}

// Request is the amount of a resource a container reserves: cores for "cpu", bytes for "memory".
type Request struct {
	Resource string
	Value    Quantity
}

// Phase is the stage of an instance's life, with the meaning of a pod's phase.
type Phase uint8

// Phases; succeeded and unknown count as running (docs/semantics.md, section 7).
const (
	PhaseRunning Phase = iota
	PhasePending
	PhaseSucceeded
	PhaseFailed
	PhaseUnknown
)

// Readiness is what is known of an instance's ability to serve.
type Readiness uint8

// Readiness values. ReadinessAbsent means the instance has no readiness at all, which is not the
// same as unknown (docs/semantics.md, section 7).
const (
	Ready Readiness = iota
	NotReady
	ReadinessUnknown
	ReadinessAbsent
)

// Reading is what a source answered for one metric in one evaluation.
type Reading struct {
	// Err says why there is no answer. Everything else is then ignored.
	Err error
	// PerInstance, for metrics of type resource, container_resource and instances, is parallel to
	// Observation.Instances: PerInstance[i] is the sample of Instances[i].
	PerInstance []Sample
	// Unlisted are samples of instances that are not in Observation.Instances.
	Unlisted []Sample
	// Values are the series of an object (exactly one) or external metric (one or more).
	Values []Quantity
}

// Sample is one measured value of one instance. The zero Sample means that there is none.
type Sample struct {
	// Present is false if the instance has no sample.
	Present bool
	Value   Quantity
	// Time is the end of the window the value was averaged over, Window its width.
	Time   time.Time
	Window time.Duration
}
