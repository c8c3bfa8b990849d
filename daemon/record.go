package daemon

import (
	"errors"
	"fmt"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// maxRetryAfter bounds for how long a target can ask to be left alone.
const maxRetryAfter = 5 * time.Minute

// What a failure is called that is a panic of hpad or of a driver.
const (
	kindPanic   = "panic"
	reasonPanic = "Panic"
)

// failure is why an evaluation counts as failed.
type failure struct {
	// kind is a label value of hpad's metrics: what failed, and how.
	kind string
	// reason is the reason of the condition EvaluationFailed.
	reason string
	err    error
}

// failure returns nil if the evaluation did not fail.
func (e *evaluation) failure() *failure {
	d := &e.decision
	switch {
	case d.Path == algorithm.PathTargetFailed:
		class := targets.ClassOf(d.Err, false)
		return &failure{kindOf("target", class.String(), d.Err), "Target" + camel(class.String()), d.Err}
	case e.wrote == failed:
		class := targets.ClassOf(e.err, true)
		return &failure{kindOf("write", class.String(), e.err), "Target" + camel(class.String()), d.Outcome(e.err)}
	case d.Err != nil:
		kind, reason := e.failedMetric()
		return &failure{kind, reason, d.Err}
	}
	return nil
}

// kindOf is kindPanic for a panic, however it was classified.
func kindOf(what, how string, err error) string {
	var panicked *panicError
	if errors.As(err, &panicked) {
		return kindPanic
	}
	return what + "_" + how
}

// failedMetric describes the first metric that failed.
func (e *evaluation) failedMetric() (kind, reason string) {
	for i := range e.decision.Metrics {
		if e.decision.Metrics[i].Err != nil {
			return kindOf("metric", e.metricKind(i), e.readingErr(i)), e.decision.Metrics[i].Reason
		}
	}
	return "metric_insufficient", algorithm.ReasonFailedComputeMetricsReplicas
}

func (e *evaluation) readingErr(i int) error {
	if i >= len(e.observation.Readings) {
		return nil
	}
	return e.observation.Readings[i].Err
}

// metricKind names what was wrong with metric i, in the words of package sources; "insufficient"
// if its source answered but the answer is not enough for a recommendation.
func (e *evaluation) metricKind(i int) string {
	err := e.readingErr(i)
	if err == nil {
		return "insufficient"
	}
	return sources.KindOf(err).String()
}

// record makes the outcome of the evaluation the workload's history, publishes it and logs what is
// new about it.
func (e *evaluation) record() {
	h := &e.workload.history
	f := e.failure()
	h.state = e.state
	e.recordConditions(f)
	e.recordEvents()
	e.recordDryRun(f)
	e.count(f)
	e.backOff(f)
	e.save()
	e.workload.report.Store(e.newReport(f))
	e.logOutcome(f)
}

// recordPanic records an evaluation that did not come to its end. The state stays what it was.
func (e *evaluation) recordPanic(panicked *panicError) {
	f := &failure{kind: kindPanic, reason: reasonPanic, err: panicked}
	e.state = e.workload.history.state
	e.decision = algorithm.Decision{Time: e.at, Err: panicked, Winner: -1}
	e.recordConditions(f)
	e.count(f)
	e.workload.report.Store(e.newReport(f))
	e.logOutcome(f)
}

func (e *evaluation) recordConditions(f *failure) {
	own := &e.workload.history.own
	if f != nil {
		own.set(evaluationFailed, e.at, algorithm.ConditionTrue, f.reason, f.err.Error())
	} else {
		own.set(evaluationFailed, e.at, algorithm.ConditionFalse, "Succeeded", "the last evaluation got through")
	}
	var block *heldError
	if errors.As(e.err, &block) {
		own.set(targetBlocked, e.at, algorithm.ConditionTrue, block.reason,
			fmt.Sprintf("%d instead of %d replicas must wait: %s", e.decision.Desired, e.decision.SpecReplicas, block.message))
	} else if e.observation.TargetErr == nil {
		own.set(targetBlocked, e.at, algorithm.ConditionFalse, "NotBlocked", "no change has to wait for the target")
	}
	switch {
	case !e.bound.config.DryRun:
		own[dryRun] = algorithm.Condition{}
	case e.wrote == dry:
		own.set(dryRun, e.at, algorithm.ConditionTrue, "NotWritten",
			fmt.Sprintf("%d instead of %d replicas were not written, on purpose", e.decision.Desired, e.decision.SpecReplicas))
	default:
		own.set(dryRun, e.at, algorithm.ConditionFalse, "NothingToWrite", "no change is wanted")
	}
}

func (e *evaluation) count(f *failure) {
	h := &e.workload.history
	if f != nil {
		h.counts.failed++
		e.metrics.evaluationErrors.WithLabelValues(f.kind).Inc()
	} else {
		h.counts.ok++
		h.success = e.at
	}
	if e.wrote == changed {
		h.counts.scaled(e.decision.SpecReplicas, e.decision.Desired)
	}
}

// backOff leaves a target alone that asked for it.
func (e *evaluation) backOff(f *failure) {
	var target *targets.Error
	if f == nil || !errors.As(f.err, &target) || target.RetryAfter <= 0 {
		return
	}
	e.workload.waitUntil(e.at.Add(min(target.RetryAfter, maxRetryAfter)))
}

// logOutcome says what changed: the target's size, or how evaluations end.
func (e *evaluation) logOutcome(f *failure) {
	h := &e.workload.history
	d := &e.decision
	log := e.workload.log
	if e.wrote == changed {
		log.Info("scaled", e.change()...)
	}
	trouble := ""
	if f != nil {
		trouble = f.kind + " " + f.reason
	} else if e.wrote == held {
		trouble = "held " + h.own[targetBlocked].Reason
	}
	if trouble != h.trouble {
		e.logTrouble(f)
		h.trouble = trouble
	}
	log.Debug("evaluated", "from", d.SpecReplicas, "to", d.Desired, "reason", d.Reason)
}

// change is what a log line says of the change that was decided.
func (e *evaluation) change() []any {
	d := &e.decision
	facts := []any{"from", d.SpecReplicas, "to", d.Desired, "reason", d.Reason}
	if metric := e.decidingMetric(); metric != "" {
		facts = append(facts, "metric", metric)
	}
	return facts
}

// recordDryRun tells of a change that a dry run does not make, once until another is wanted or none.
func (e *evaluation) recordDryRun(f *failure) {
	h := &e.workload.history
	wanted := withheld{e.decision.SpecReplicas, e.decision.Desired}
	switch {
	case e.wrote == dry && wanted != h.withheld:
		h.withheld = wanted
		e.workload.log.Info("would scale", e.change()...)
		e.event(eventNormal, dryRun.String(),
			fmt.Sprintf("would scale from %d to %d replicas; reason: %s", wanted.from, wanted.to, e.decision.Reason))
	case e.wrote != dry && f == nil:
		h.withheld = withheld{}
	}
}

// logTrouble says that evaluations fail, or wait for the target, or no longer do.
func (e *evaluation) logTrouble(f *failure) {
	log := e.workload.log
	var panicked *panicError
	switch {
	case f == nil && e.wrote == held:
		log.Warn("target takes no change now", "reason", e.workload.history.own[targetBlocked].Reason, "err", e.err)
	case f == nil:
		log.Info("evaluation works again")
	case errors.As(f.err, &panicked):
		log.Error("evaluation failed", "reason", f.reason, "err", f.err, "stack", string(panicked.stack))
	case e.isFirst() && f.kind == "metric_"+sources.NoData.String():
		// Usage over time takes two readings: nothing is wrong yet.
		log.Info("no samples yet", "reason", f.reason, "err", f.err)
	default:
		log.Warn("evaluation failed", "reason", f.reason, "err", f.err)
	}
}

// isFirst tells whether this evaluation, which is counted already, is the workload's first.
func (e *evaluation) isFirst() bool {
	c := e.workload.history.counts
	return c.ok+c.failed == 1
}

// decidingMetric names the metric whose recommendation was taken; empty if none decided.
func (e *evaluation) decidingMetric() string {
	if e.decision.Winner < 0 || e.decision.Winner >= len(e.bound.config.Spec.Metrics) {
		return ""
	}
	return e.bound.config.Spec.Metrics[e.decision.Winner].Name
}
