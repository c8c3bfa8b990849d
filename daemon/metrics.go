package daemon

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	versioncollector "github.com/prometheus/client_golang/prometheus/collectors/version"
)

// daemonMetrics are hpad's own metrics, in a registry of their own.
type daemonMetrics struct {
	registry           *prometheus.Registry
	calls              *callMetrics
	reloadOK           prometheus.Gauge
	reloadTime         prometheus.Gauge
	evaluationDuration prometheus.Histogram
	evaluationErrors   *prometheus.CounterVec
	skipped            prometheus.Counter
	state              *stateMetrics
}

func newDaemonMetrics() *daemonMetrics {
	m := &daemonMetrics{
		registry: prometheus.NewRegistry(),
		calls:    newCallMetrics(),
		state:    newStateMetrics(),
		reloadOK: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hpad_config_last_reload_successful",
			Help: "Whether the last attempt to load the configuration succeeded.",
		}),
		reloadTime: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hpad_config_last_reload_success_timestamp_seconds",
			Help: "When the configuration was loaded successfully the last time.",
		}),
		evaluationDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "hpad_evaluation_duration_seconds",
			Help:    "How long evaluations took, whether they failed or not.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}),
		evaluationErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hpad_evaluation_errors_total",
			Help: "Failed evaluations of all workloads, by what failed and how.",
		}, []string{"kind"}),
		skipped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hpad_evaluations_skipped_total",
			Help: "Turns at which the evaluation before was still running.",
		}),
	}
	m.registry.MustRegister(
		m.reloadOK, m.reloadTime, m.evaluationDuration, m.evaluationErrors, m.skipped,
		versioncollector.NewCollector("hpad"),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.registry.MustRegister(m.calls.collectors()...)
	m.registry.MustRegister(m.state.collectors()...)
	return m
}

func (m *daemonMetrics) loaded(at time.Time) {
	m.reloadOK.Set(1)
	m.reloadTime.Set(float64(at.UnixMilli()) / 1000)
}

func (m *daemonMetrics) loadFailed() { m.reloadOK.Set(0) }
