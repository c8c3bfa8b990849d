package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hpad/hpad/daemon/config"
)

// stopTimeout bounds a shutdown. Two deadlines fit into it: an evaluation that must finish its
// write, and its reading back.
const stopTimeout = 25 * time.Second

// Options are what a Daemon is made of.
type Options struct {
	// Load reads the configuration: once by New and at every reload. Like config.Load it returns
	// what could be made in spite of problems, so that the drivers can be asked for theirs.
	Load func() (*config.Config, config.Problems)
	// Drivers are all drivers the configuration can name.
	Drivers Drivers
	// Log receives what the daemon has to say.
	Log *slog.Logger
}

// Daemon evaluates the workloads of a configuration and serves what it did.
type Daemon struct {
	options   Options
	log       *slog.Logger
	metrics   *daemonMetrics
	scheduler *scheduler
	notifier  *notifier
	reloads   chan chan<- reloaded
	// stopped is closed by refuseReloads, when no reload will be done any more.
	stopped       chan struct{}
	refuseReloads func()
	ready         atomic.Bool
	// unwritable is done once an answer could not be written.
	unwritable sync.Once

	// started are the settings the daemon was started with.
	started config.Daemon

	// state is nil if nothing is to survive.
	state *store

	// evaluating ends when evaluations must stop.
	evaluating  context.Context
	evaluations sync.WaitGroup
	// retiring are the closings of what reloads replaced.
	retiring sync.WaitGroup

	mu  sync.RWMutex
	set *Set
	// workloads are by name, order is that of the configuration.
	workloads map[string]*workload
	order     []*workload
}

// New reads the configuration and opens what it names, offline. The error holds all problems
// (config.Problems). A Daemon that was made must be Run.
func New(options Options) (*Daemon, error) {
	d := &Daemon{
		options:   options,
		log:       options.Log,
		metrics:   newDaemonMetrics(),
		notifier:  newNotifier(options.Log),
		reloads:   make(chan chan<- reloaded, 16),
		stopped:   make(chan struct{}),
		set:       &Set{cfg: &config.Config{}},
		workloads: map[string]*workload{},
	}
	d.scheduler = newScheduler(d.begin)
	d.refuseReloads = sync.OnceFunc(func() { close(d.stopped) })
	set, err := d.load()
	if err != nil {
		return nil, err
	}
	d.set, d.started = set, set.cfg.Daemon
	d.metrics.loaded(time.Now())
	d.metrics.registry.MustRegister(&workloadCollector{d})
	return d, nil
}

// load builds the Set of the configuration as it is now, on top of the one in force.
func (d *Daemon) load() (*Set, error) {
	cfg, problems := d.options.Load()
	set, more := build(cfg, d.options.Drivers, Environment{Log: d.log}, d.set, d.metrics.calls)
	problems = Merge(problems, more)
	if len(problems) == 0 {
		return set, nil
	}
	if set != nil {
		// The problems are what the caller can act upon; a failed release adds nothing to them.
		_ = set.closeExcept(d.set)
	}
	return nil, problems
}

// Run serves and evaluates until ctx ends, and then stops in order. It returns an error if it
// could not start, if it could no longer serve, or if it did not stop cleanly in time.
func (d *Daemon) Run(ctx context.Context) error {
	defer d.refuseReloads()
	var undo closers
	failed := make(chan error, 2)
	err := d.start(ctx, &undo, failed)
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	d.ready.Store(false)
	d.notifier.stopping()
	d.log.Info("stopping")
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return errors.Join(err, undo.run(within))
}

// start brings everything up, what is depended on first. What is up when it fails, undo holds.
func (d *Daemon) start(ctx context.Context, undo *closers, failed chan<- error) error {
	background := context.WithoutCancel(ctx)
	if err := d.remember(undo); err != nil {
		return err
	}
	undo.push("targets and sources", func(context.Context) error {
		d.retiring.Wait()
		return d.inForce().Close()
	})
	if err := d.serve(undo, failed); err != nil {
		return err
	}
	stopBeats := make(chan struct{})
	go d.notifier.run(stopBeats)
	undo.push("heartbeats", func(context.Context) error { close(stopBeats); return nil })

	evaluating, cancel := context.WithCancel(background)
	d.evaluating = evaluating
	d.scheduler.beat, d.scheduler.beatEvery = d.notifier.beat, watchdogInterval()
	var scheduling sync.WaitGroup
	undo.push("evaluations", func(context.Context) error {
		cancel()
		scheduling.Wait()
		d.evaluations.Wait()
		return nil
	})
	d.adopt(background, d.set)
	scheduling.Go(func() { d.scheduler.run(evaluating) })

	d.ready.Store(true)
	d.notifier.ready(d.summary())
	d.log.Info("ready", "workloads", len(d.list()))

	reloading, stopReloads := context.WithCancel(background)
	var reloads sync.WaitGroup
	undo.push("reloads", func(context.Context) error {
		stopReloads()
		reloads.Wait()
		return nil
	})
	reloads.Go(func() { d.reloadLoop(reloading) })
	return nil
}

// begin starts the evaluation of one workload, unless it is not its turn.
func (d *Daemon) begin(w *workload, r *round) {
	bound, busy := w.beginEvaluation(r.at)
	if busy {
		d.metrics.skipped.Inc()
	}
	if bound == nil {
		return
	}
	e := &evaluation{
		workload: w, bound: bound, round: r, at: r.at, metrics: d.metrics, store: d.state,
		deadline: d.inForce().deadline(),
	}
	d.evaluations.Go(func() {
		defer w.endEvaluation(bound)
		e.run(d.evaluating)
	})
}

func (d *Daemon) inForce() *Set {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.set
}

// list returns the workloads in the order of the configuration.
func (d *Daemon) list() []*workload {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.order
}

func (d *Daemon) find(name string) *workload {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.workloads[name]
}

// summary is the daemon's state in one line.
func (d *Daemon) summary() string {
	return fmt.Sprintf("%d workloads", len(d.list()))
}
