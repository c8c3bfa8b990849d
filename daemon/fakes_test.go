package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/targettest"
)

// meddledTarget is a target that somebody else changes just before it is written.
type meddledTarget struct {
	targets.Target
	fake             *targettest.Fake
	conflicts, tries int
	to               int32
}

func (m *meddledTarget) SetReplicas(ctx context.Context, from targets.Status, n int32) error {
	m.tries++
	if m.conflicts > 0 {
		m.conflicts--
		m.fake.Change(m.to)
	}
	return m.Target.SetReplicas(ctx, from, n)
}

func (m *meddledTarget) driver(w *world) targets.Driver {
	m.Target = m.fake.Target()
	return oneTargetDriver("meddled", m)
}

// oneTargetDriver binds every table to t.
func oneTargetDriver(name string, t targets.Target) targets.Driver {
	return targets.Driver{Name: name, Open: func(targets.Environment, options.Table) (targets.Connection, error) {
		return oneTarget{t}, nil
	}}
}

type oneTarget struct{ target targets.Target }

func (o oneTarget) Bind(options.Table) (targets.Target, error) { return o.target, nil }
func (o oneTarget) Close() error                               { return nil }

func panickingDriver() targets.Driver {
	return oneTargetDriver("panicking", panicking{targettest.NewFake("panicking", 1).Target()})
}

type panicking struct{ targets.Target }

func (panicking) Status(context.Context) (targets.Status, error) { panic("driver bug") }

// hangingSource answers no query before its context ends.
func (w *world) hangingSource() sources.Driver {
	return sources.Driver{Name: "dead", Open: func(sources.Environment, options.Table) (sources.Source, error) {
		return deadSource{}, nil
	}}
}

type deadSource struct{}

func (deadSource) Query(ctx context.Context, _ sources.Query, _ time.Time) (*sources.Result, error) {
	<-ctx.Done()
	return nil, sources.Errorf(sources.Unavailable, "no answer: %w", ctx.Err())
}

func (deadSource) Close() error { return nil }

// runTarget is a target that hpad itself runs.
type runTarget struct {
	targets.Target
	activated, closed, resumed atomic.Int32
	initial                    int32
}

// InitialReplicas is initial, 1 if that is not set, 0 if it is negative.
func (r *runTarget) InitialReplicas() int32 {
	if r.initial == 0 {
		return 1
	}
	return max(r.initial, 0)
}

func (r *runTarget) Activate(context.Context) error { r.activated.Add(1); return nil }
func (r *runTarget) Resume(replicas int32)          { r.resumed.Store(replicas) }
func (r *runTarget) Close() error                   { r.closed.Add(1); return nil }

// openEach binds every table to what next returns then.
func openEach(next func() targets.Target) func(targets.Environment, options.Table) (targets.Connection, error) {
	return func(targets.Environment, options.Table) (targets.Connection, error) { return eachTarget(next), nil }
}

type eachTarget func() targets.Target

func (e eachTarget) Bind(options.Table) (targets.Target, error) { return e(), nil }
func (e eachTarget) Close() error                               { return nil }

// deafTarget does not listen to its context.
type deafTarget struct {
	targets.Target
	stuck <-chan struct{}
}

func (d deafTarget) Status(context.Context) (targets.Status, error) {
	<-d.stuck
	return targets.Status{}, nil
}

// onlyResources is a source that answers no queries.
func onlyResources() sources.Driver {
	return sources.Driver{Name: "resources", Open: func(sources.Environment, options.Table) (sources.Source, error) {
		return resourceSource{}, nil
	}}
}

type resourceSource struct{}

func (resourceSource) ReadResource(
	_ context.Context, _, _ string, instances []targets.Instance, _ time.Time,
) ([]algorithm.Sample, error) {
	return make([]algorithm.Sample, len(instances)), nil
}

func (resourceSource) Close() error { return nil }
