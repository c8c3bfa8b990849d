package daemon

import (
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// maxTargetCalls is how many calls to one [targets.NAME] run at once. It is far above what the
// workloads of one connection need in a sync period, and low enough not to trouble an engine.
const maxTargetCalls = 32

// source is an opened [sources.NAME], or the source that belongs to a target's driver.
type source struct {
	name  string
	table *config.Driver
	raw   sources.Source
	// queries is nil if the source is no Querier, resources if it is no ResourceReader.
	queries   sources.Querier
	resources sources.ResourceReader
}

func newSource(name string, table *config.Driver, raw sources.Source, deadline time.Duration, calls *callMetrics) *source {
	s := &source{name: name, table: table, raw: raw}
	if q, ok := raw.(sources.Querier); ok {
		s.queries = sources.NewShared(measuredQuerier{q, calls, name}, deadline, sources.DefaultInFlight)
	}
	if r, ok := raw.(sources.ResourceReader); ok {
		s.resources = measuredReader{r, calls, name}
	}
	return s
}

// connection is an opened [targets.NAME].
type connection struct {
	table  *config.Driver
	driver targets.Driver
	raw    targets.Connection
	calls  *targetCalls
	// resources measures the instances of the targets of this connection; nil if nothing does.
	resources *source
}

func newConnection(table *config.Driver, driver targets.Driver, raw targets.Connection, calls *callMetrics) *connection {
	return &connection{
		table: table, driver: driver, raw: raw,
		calls: &targetCalls{name: table.Name, slots: make(chan struct{}, maxTargetCalls), metrics: calls},
	}
}

func (c *connection) close() error {
	err := c.raw.Close()
	if c.resources == nil {
		return err
	}
	if e := c.resources.raw.Close(); err == nil {
		err = e
	}
	return err
}

// binding is one workload of the configuration bound to its target and sources. It never changes;
// a reload that changes the workload makes a new one.
type binding struct {
	config     *config.Workload
	connection *connection
	target     *boundTarget
	// scale is target, or in a dry run what stands in for it.
	scale targets.Target
	// feeds are parallel to the metrics of the workload's Spec.
	feeds []feed
	// labels tell the metrics apart in hpad's own metrics; parallel to feeds.
	labels []string
	// users are the evaluations that use the binding.
	users sync.WaitGroup
}

// connect settles whether writes reach the target.
func (b *binding) connect() {
	b.labels = metricLabels(b.config.Spec.Metrics)
	b.scale = b.target
	if b.config.DryRun {
		b.scale = targets.DryRun(b.target)
	}
}

// metricLabels are the names of the metrics, made unique by type and place where they are not.
func metricLabels(metrics []algorithm.Metric) []string {
	labels := make([]string, len(metrics))
	taken := map[string]bool{}
	for i, m := range metrics {
		label := m.Name
		if label == "" {
			label = string(m.Type)
		}
		if taken[label] {
			label = string(m.Type) + ":" + label
		}
		if taken[label] {
			label += ":" + strconv.Itoa(i)
		}
		taken[label] = true
		labels[i] = label
	}
	return labels
}

// equal tells whether a reload that would put c in the place of b would change nothing.
func (b *binding) equal(c *binding) bool {
	return b.config.Fingerprint == c.config.Fingerprint && b.target == c.target &&
		slices.EqualFunc(b.feeds, c.feeds, func(x, y feed) bool { return x.source == y.source })
}

// sameMetrics tells whether results of the metrics of b are results of those of c.
func (b *binding) sameMetrics(c *binding) bool {
	return b == c || slices.Equal(b.config.Spec.Metrics, c.config.Spec.Metrics) &&
		reflect.DeepEqual(b.config.Metrics, c.config.Metrics)
}

// boundTarget is a target that is closed once, however many bindings held it.
type boundTarget struct {
	targets.Target
	closing sync.Once
	err     error
}

func newTarget(raw targets.Target) *boundTarget { return &boundTarget{Target: raw} }

func (t *boundTarget) Close() error {
	t.closing.Do(func() { t.err = t.Target.Close() })
	return t.err
}

// feed is where the samples of one metric come from.
type feed struct {
	source *source
	metric config.Metric
	spec   *algorithm.Metric
}

// byQuery tells whether the samples are the answer to a query.
func (f *feed) byQuery() bool { return f.metric.Query != "" }

func (f *feed) query() sources.Query {
	return sources.Query{Text: f.metric.Query, CheckTimestamp: f.metric.CheckTimestamp}
}
