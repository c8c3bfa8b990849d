package loadtest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// probe sees when samples are read and when targets are asked to change.
type probe struct {
	mu sync.Mutex
	// read is when the answer to a query came last.
	read  map[string]time.Time
	waits []time.Duration
	// first is when the last target was read for the first time.
	first time.Time
	seen  int
}

func (p *probe) answered(query string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read[query] = time.Now()
}

func (p *probe) asked(query string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = append(p.waits, time.Since(p.read[query]))
}

func (p *probe) sawFirst() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.first = time.Now()
	p.seen++
}

// started returns when the last target was read for the first time, and how many were.
func (p *probe) started() (first time.Time, seen int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, p.seen
}

func (p *probe) sortedWaits() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.Sort(p.waits)
	return slices.Clone(p.waits)
}

// probed is a source driver whose answers the probe sees.
func (p *probe) probed(d sources.Driver) sources.Driver {
	open := d.Open
	d.Open = func(env sources.Environment, table options.Table) (sources.Source, error) {
		opened, err := open(env, table)
		if err != nil {
			return nil, err
		}
		return probedSource{opened, opened.(sources.Querier), p}, nil
	}
	return d
}

type probedSource struct {
	sources.Source
	querier sources.Querier
	probe   *probe
}

func (s probedSource) Query(ctx context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	result, err := s.querier.Query(ctx, q, at)
	s.probe.answered(q.Text)
	return result, err
}

// driver is a target driver whose targets are numbers in memory.
func (p *probe) driver() targets.Driver {
	return targets.Driver{Name: "memory", Open: func(targets.Environment, options.Table) (targets.Connection, error) {
		return connection{p}, nil
	}}
}

type connection struct{ probe *probe }

func (c connection) Bind(table options.Table) (targets.Target, error) {
	var keys struct {
		Name  string `toml:"name"`
		Query string `toml:"query"`
	}
	if err := table.Decode(&keys); err != nil {
		return nil, err
	}
	t := &memory{name: keys.Name, query: keys.Query, probe: c.probe}
	t.replicas.Store(2)
	return t, nil
}

func (c connection) Close() error { return nil }

type memory struct {
	name, query string
	probe       *probe
	replicas    atomic.Int32
	read        atomic.Bool
}

func (m *memory) ID() string { return "memory:" + m.name }

func (m *memory) Status(context.Context) (targets.Status, error) {
	if !m.read.Swap(true) {
		m.probe.sawFirst()
	}
	n := m.replicas.Load()
	status := targets.Status{SpecReplicas: n, StatusReplicas: n, Instances: make([]targets.Instance, n)}
	for i := range status.Instances {
		status.Instances[i].Instance = algorithm.Instance{ID: m.name}
	}
	return status, nil
}

func (m *memory) SetReplicas(_ context.Context, _ targets.Status, n int32) error {
	m.probe.asked(m.query)
	m.replicas.Store(n)
	return nil
}

func (m *memory) Close() error { return nil }
