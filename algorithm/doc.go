// Package algorithm is the decision of the Kubernetes HorizontalPodAutoscaler as a pure function.
//
// [Decide] takes the time, what the operator asked for ([Spec]), what is remembered ([State]) and
// what was seen ([Observation]), and returns a [Decision] and the next State. It reads no clock,
// does no I/O, starts no goroutine, keeps no hidden memory: the same arguments give the same
// result, on every machine. The caller carries the decision out and reports the outcome with
// [Applied].
//
// The pipeline, in the order of docs/semantics.md:
//
//	target read?         no → condition AbleToScale=False, stop
//	zero, above max, below min → decided without metrics
//	each metric          usage ratio → tolerance → recommendation        (recommend.go)
//	the list             the largest wins; a failed metric blocks "down" (combine.go)
//	windows              the mildest recent recommendation wins          (stabilize.go)
//	policies, bounds     how far one period's changes let us go          (limit.go)
//	conditions, reasons  what held it back                               (condition.go)
//
// The rules, their arithmetic, rounding and reasons are those of the controller of Kubernetes
// v1.36.3; where a float does not fit into an integer it saturates, on every architecture.
package algorithm
