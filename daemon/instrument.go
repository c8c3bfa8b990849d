package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// callMetrics measure the calls to sources and targets.
type callMetrics struct {
	sourceDuration *prometheus.HistogramVec
	sourceErrors   *prometheus.CounterVec
	targetDuration *prometheus.HistogramVec
	targetErrors   *prometheus.CounterVec
}

func newCallMetrics() *callMetrics {
	buckets := []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	return &callMetrics{
		sourceDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "hpad_source_request_duration_seconds",
			Help:    "How long requests to a source took, whether they failed or not.",
			Buckets: buckets,
		}, []string{"source", "operation"}),
		sourceErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hpad_source_errors_total",
			Help: "Failed requests to a source, and answers that were of no use, by kind of error.",
		}, []string{"source", "kind"}),
		targetDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "hpad_target_request_duration_seconds",
			Help:    "How long requests to a target took, whether they failed or not.",
			Buckets: buckets,
		}, []string{"target", "operation"}),
		targetErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hpad_target_errors_total",
			Help: "Failed requests to a target, by class of error.",
		}, []string{"target", "class"}),
	}
}

func (m *callMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.sourceDuration, m.sourceErrors, m.targetDuration, m.targetErrors}
}

// forgetSource and forgetTarget drop the series of what a reload removed.
func (m *callMetrics) forgetSource(name string) {
	m.sourceDuration.DeletePartialMatch(prometheus.Labels{"source": name})
	m.sourceErrors.DeletePartialMatch(prometheus.Labels{"source": name})
}

func (m *callMetrics) forgetTarget(name string) {
	m.targetDuration.DeletePartialMatch(prometheus.Labels{"target": name})
	m.targetErrors.DeletePartialMatch(prometheus.Labels{"target": name})
}

func (m *callMetrics) sourceCall(name, operation string, began time.Time, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	m.sourceDuration.WithLabelValues(name, operation).Observe(time.Since(began).Seconds())
	if err != nil {
		m.sourceErrors.WithLabelValues(name, sources.KindOf(err).String()).Inc()
	}
}

// unusable counts an answer that a workload could not use.
func (m *callMetrics) unusable(source string, err error) {
	m.sourceErrors.WithLabelValues(source, sources.KindOf(err).String()).Inc()
}

// measuredQuerier measures a Querier and contains its panics.
type measuredQuerier struct {
	sources.Querier
	metrics *callMetrics
	name    string
}

func (q measuredQuerier) Query(ctx context.Context, query sources.Query, at time.Time) (*sources.Result, error) {
	began := time.Now()
	var result *sources.Result
	err := guarded(func() (err error) {
		result, err = q.Querier.Query(ctx, query, at)
		return err
	})
	q.metrics.sourceCall(q.name, "query", began, err)
	return result, err
}

// measuredReader measures a ResourceReader and contains its panics.
type measuredReader struct {
	sources.ResourceReader
	metrics *callMetrics
	name    string
}

func (r measuredReader) ReadResource(
	ctx context.Context, resource, container string, instances []targets.Instance, at time.Time,
) ([]algorithm.Sample, error) {
	began := time.Now()
	var samples []algorithm.Sample
	err := guarded(func() (err error) {
		samples, err = r.ResourceReader.ReadResource(ctx, resource, container, instances, at)
		return err
	})
	r.metrics.sourceCall(r.name, "read_resource", began, err)
	return samples, err
}

// targetCalls makes the calls to the targets of one connection: limited, measured, and with
// their panics contained.
type targetCalls struct {
	name    string
	slots   chan struct{}
	metrics *callMetrics
}

func (c *targetCalls) status(ctx context.Context, t targets.Target) (targets.Status, error) {
	var status targets.Status
	err := c.call(ctx, "status", func() (err error) {
		status, err = t.Status(ctx)
		return err
	})
	return status, err
}

// setReplicas returns an error of class Uncertain only if the request may have been sent.
func (c *targetCalls) setReplicas(ctx context.Context, t targets.Target, from targets.Status, n int32) error {
	return c.call(ctx, "set_replicas", func() error { return t.SetReplicas(ctx, from, n) })
}

func (c *targetCalls) call(ctx context.Context, operation string, f func() error) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return targets.Errorf(targets.Unavailable,
			"cannot ask target %q: %d calls are waiting for its answer already", c.name, cap(c.slots))
	}
	began := time.Now()
	err := guarded(f)
	if errors.Is(err, targets.ErrDryRun) || errors.Is(err, context.Canceled) {
		return err
	}
	c.metrics.targetDuration.WithLabelValues(c.name, operation).Observe(time.Since(began).Seconds())
	if err != nil {
		c.metrics.targetErrors.WithLabelValues(c.name, targets.ClassOf(err, operation != "status").String()).Inc()
	}
	return err
}
