package daemon

import (
	"math"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/api"
)

// report is what an evaluation left for everybody to see. It never changes.
type report struct {
	bound      *binding
	at         time.Time
	decision   algorithm.Decision
	status     algorithm.Status
	own        ownConditions
	events     []api.Event
	counts     counts
	success    time.Time
	warnings   []string
	failure    *failure
	wrote      outcome
	kinds      []string
	specCount  int32
	statusSeen int32
}

func (e *evaluation) newReport(f *failure) *report {
	h := &e.workload.history
	r := &report{
		bound: e.bound, at: e.at, decision: e.decision, status: e.state.Status, own: h.own,
		events: h.events, counts: h.counts, success: h.success, warnings: e.warnings(),
		failure: f, wrote: e.wrote,
		specCount: e.observation.SpecReplicas, statusSeen: e.observation.StatusReplicas,
	}
	if last := e.workload.report.Load(); e.observation.TargetErr != nil && last != nil {
		r.specCount, r.statusSeen = last.specCount, last.statusSeen
	}
	if f != nil {
		r.kinds = make([]string, len(e.decision.Metrics))
		for i := range e.decision.Metrics {
			if e.decision.Metrics[i].Err != nil {
				r.kinds[i] = e.metricKind(i)
			}
		}
	}
	return r
}

// desired is what the last evaluation that got through wants, written or not.
func (r *report) desired() int32 {
	if r.decision.Rescale && r.wrote != failed {
		return r.decision.Desired
	}
	return r.status.DesiredReplicas
}

// each calls f for every condition that was ever set, the HPA's first.
func (r *report) each(f func(name string, c *algorithm.Condition)) {
	for t := range r.status.Conditions {
		if c := &r.status.Conditions[t]; c.Status != "" {
			f(algorithm.ConditionType(t).String(), c)
		}
	}
	for t := range r.own {
		if c := &r.own[t]; c.Status != "" {
			f(ownCondition(t).String(), c)
		}
	}
}

// describe is the workload as the API shows it, with the events and the trace if they are wanted.
func (w *workload) describe(detailed bool) api.Workload {
	r := w.report.Load()
	bound := w.binding()
	if bound == nil {
		if r == nil {
			return api.Workload{Name: w.name}
		}
		bound = r.bound
	}
	shown := api.Workload{
		Name: w.name, Target: bound.target.ID(), Via: bound.config.Via, DryRun: bound.config.DryRun,
		MinReplicas: bound.config.Spec.MinReplicas, MaxReplicas: bound.config.Spec.MaxReplicas,
		Metrics: describeMetrics(bound, r), Conditions: []api.Condition{}, Events: []api.Event{},
		Since: w.since,
	}
	if r == nil {
		return shown
	}
	shown.Disabled = r.decision.Path == algorithm.PathDisabled
	shown.SpecReplicas, shown.StatusReplicas, shown.DesiredReplicas = r.specCount, r.statusSeen, r.desired()
	shown.Warnings = r.warnings
	shown.LastEvaluation, shown.LastSuccess, shown.LastScale = r.at, r.success, r.status.LastScaleTime
	if r.failure != nil {
		shown.Error = r.failure.err.Error()
	}
	r.each(func(name string, c *algorithm.Condition) {
		shown.Conditions = append(shown.Conditions, api.Condition{
			Type: name, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.Since,
		})
	})
	shown.Events = append(shown.Events, r.events...)
	if detailed {
		shown.Explanation = explain(r)
	}
	return shown
}

// describeMetrics shows the metrics of the configuration with what the last evaluation saw, unless
// that was of other metrics.
func describeMetrics(bound *binding, r *report) []api.Metric {
	results := r != nil && r.bound.sameMetrics(bound)
	shown := make([]api.Metric, len(bound.config.Spec.Metrics))
	for i := range shown {
		m := &bound.config.Spec.Metrics[i]
		shown[i] = api.Metric{
			Type: string(m.Type), Name: m.Name, Container: m.Container,
			Source:     bound.config.Metrics[i].Source,
			TargetKind: string(m.Target.Kind), TargetValue: targetNumber(m.Target),
		}
		if results && i < len(r.decision.Metrics) {
			addResult(&shown[i], m.Target.Kind, &r.decision.Metrics[i])
			if i < len(r.kinds) {
				shown[i].Kind = r.kinds[i]
			}
		}
	}
	return shown
}

func addResult(shown *api.Metric, kind algorithm.TargetKind, result *algorithm.MetricResult) {
	if result.Err != nil {
		shown.Error = result.Err.Error()
		return
	}
	if value, ok := currentNumber(kind, &result.Current); ok {
		shown.CurrentValue = &value
	}
	if kind == algorithm.KindAverageUtilization && result.Current.HasAverage {
		average := number(result.Current.Average)
		shown.CurrentAverage = &average
	}
	if ratio := result.UsageRatio; isFinite(ratio) {
		shown.UsageRatio = &ratio
	}
	proposal := result.Proposal
	shown.Recommendation = &proposal
}

// isFinite is false for the usage ratio of an average at 0 replicas.
func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// targetNumber is the target value as the configuration writes it.
func targetNumber(t algorithm.TargetValue) float64 {
	if t.Kind == algorithm.KindAverageUtilization {
		return float64(t.Value)
	}
	return number(algorithm.Quantity(t.Value))
}

// currentNumber is the measured value, of a metric that worked, in the unit of the target value;
// false if there is none. An average at 0 replicas is 0, as in the HPA's status.
func currentNumber(kind algorithm.TargetKind, c *algorithm.CurrentValue) (float64, bool) {
	switch kind {
	case algorithm.KindAverageUtilization:
		return float64(c.Utilization), c.HasUtilization
	case algorithm.KindAverageValue:
		return number(c.Average), true
	}
	return number(c.Value), c.HasValue
}

func number(q algorithm.Quantity) float64 { return float64(q) / 1000 }
