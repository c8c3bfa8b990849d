package daemon

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hpad/hpad/algorithm"
)

// workloadCollector makes the metrics of all workloads from their reports, at the time of the
// scrape: at most 16 series per workload and 4 per metric of it.
type workloadCollector struct {
	daemon *Daemon
}

// descriptions are immutable.
var descriptions = struct {
	spec, status, desired, min, max     *prometheus.Desc
	value, target, ratio, proposal      *prometheus.Desc
	condition, scales, outcome, success *prometheus.Desc
}{
	spec:    perWorkload("spec_replicas", "Replicas the target was asked for, as read by the last evaluation."),
	status:  perWorkload("status_replicas", "Replicas the target says it has, as read by the last evaluation."),
	desired: perWorkload("desired_replicas", "Replicas the last evaluation that got through wants."),
	min:     perWorkload("min_replicas", "Lower bound of the replicas."),
	max:     perWorkload("max_replicas", "Upper bound of the replicas."),

	value: perWorkload("metric_value",
		"Measured value of a metric in the unit of its target value; utilization as a ratio.", "metric"),
	target: perWorkload("metric_target_value",
		"Target value of a metric; utilization as a ratio.", "metric"),
	ratio:    perWorkload("metric_usage_ratio", "Measured value over target value of a metric.", "metric"),
	proposal: perWorkload("metric_recommended_replicas", "Replicas a metric alone asks for.", "metric"),

	condition: perWorkload("condition", "Whether a condition of the workload is True, with its present reason.",
		"condition", "reason"),
	scales:  perWorkload("scale_events_total", "Changes of the replicas, by direction.", "direction"),
	outcome: perWorkload("evaluations_total", "Evaluations, by outcome.", "outcome"),
	success: perWorkload("last_success_timestamp_seconds", "When an evaluation got through the last time."),
}

func perWorkload(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("hpad_workload_"+name, help, append([]string{"workload"}, labels...), nil)
}

// Describe sends nothing: which series there are follows from the configuration.
func (c *workloadCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the series of all workloads.
func (c *workloadCollector) Collect(out chan<- prometheus.Metric) {
	byName := func(a, b *workload) int { return strings.Compare(a.name, b.name) }
	// The registry sorts all series: what comes in order costs it half.
	for _, w := range slices.SortedFunc(slices.Values(c.daemon.list()), byName) {
		if bound := w.binding(); bound != nil {
			s := series{out: out, workload: w.name}
			s.bounds(bound)
			s.report(bound, w.report.Load())
		}
	}
}

// series sends the series of one workload.
type series struct {
	out      chan<- prometheus.Metric
	workload string
}

func (s series) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{s.workload}, labels...)...)
}

func (s series) counter(d *prometheus.Desc, v uint64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), append([]string{s.workload}, labels...)...)
}

func (s series) bounds(b *binding) {
	s.gauge(descriptions.min, float64(b.config.Spec.MinReplicas))
	s.gauge(descriptions.max, float64(b.config.Spec.MaxReplicas))
	for i := range b.config.Spec.Metrics {
		m := &b.config.Spec.Metrics[i]
		s.gauge(descriptions.target, ratioOf(m.Target.Kind, targetNumber(m.Target)), b.labels[i])
	}
}

func (s series) report(bound *binding, r *report) {
	if r == nil {
		return
	}
	if !r.success.IsZero() {
		s.gauge(descriptions.spec, float64(r.specCount))
		s.gauge(descriptions.status, float64(r.statusSeen))
		s.gauge(descriptions.desired, float64(r.desired()))
		s.gauge(descriptions.success, float64(r.success.UnixMilli())/1000)
	}
	s.counter(descriptions.scales, r.counts.ups, "up")
	s.counter(descriptions.scales, r.counts.downs, "down")
	s.counter(descriptions.outcome, r.counts.ok, "ok")
	s.counter(descriptions.outcome, r.counts.failed, "error")
	r.each(func(name string, c *algorithm.Condition) {
		if name == dryRun.String() {
			return
		}
		s.gauge(descriptions.condition, truth(c.Status), name, c.Reason)
	})
	if !r.bound.sameMetrics(bound) {
		return
	}
	for i := range r.decision.Metrics {
		s.metric(bound.config.Spec.Metrics[i].Target.Kind, bound.labels[i], &r.decision.Metrics[i])
	}
}

func (s series) metric(kind algorithm.TargetKind, label string, result *algorithm.MetricResult) {
	if result.Err != nil {
		return
	}
	if value, ok := currentNumber(kind, &result.Current); ok {
		s.gauge(descriptions.value, ratioOf(kind, value), label)
	}
	if isFinite(result.UsageRatio) {
		s.gauge(descriptions.ratio, result.UsageRatio, label)
	}
	s.gauge(descriptions.proposal, float64(result.Proposal), label)
}

// ratioOf turns percent into a ratio, as is usual in Prometheus.
func ratioOf(kind algorithm.TargetKind, v float64) float64 {
	if kind == algorithm.KindAverageUtilization {
		return v / 100
	}
	return v
}

func truth(s algorithm.ConditionStatus) float64 {
	if s == algorithm.ConditionTrue {
		return 1
	}
	return 0
}
