package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/hpad/hpad/daemon/config"
)

// errStopped answers a reload that came too late.
var errStopped = errors.New("cannot reload: the daemon is stopping")

// Reload reads the configuration again and puts it in force, completely or not at all. The error
// holds all problems (config.Problems). Reloads are done one after the other; those asked for
// while one is done share the next.
func (d *Daemon) Reload(ctx context.Context) (Changes, error) {
	answer := make(chan reloaded, 1)
	select {
	case d.reloads <- answer:
	case <-ctx.Done():
		return Changes{}, ctx.Err()
	}
	select {
	case r := <-answer:
		return r.changes, r.err
	case <-d.stopped:
		return Changes{}, errStopped
	case <-ctx.Done():
		return Changes{}, ctx.Err()
	}
}

// reloaded is the outcome of a reload.
type reloaded struct {
	changes Changes
	err     error
}

// reloadLoop reloads when asked to, until ctx ends.
func (d *Daemon) reloadLoop(ctx context.Context) {
	for {
		var waiting []chan<- reloaded
		select {
		case <-ctx.Done():
			d.refuseReloads()
			return
		case first := <-d.reloads:
			waiting = append(waiting, first)
		}
		waiting = append(waiting, d.alsoWaiting()...)
		var r reloaded
		r.changes, r.err = d.reload(ctx)
		for _, answer := range waiting {
			answer <- r
		}
	}
}

func (d *Daemon) alsoWaiting() []chan<- reloaded {
	var waiting []chan<- reloaded
	for {
		select {
		case answer := <-d.reloads:
			waiting = append(waiting, answer)
		default:
			return waiting
		}
	}
}

// reload does everything that can fail before it changes anything.
func (d *Daemon) reload(ctx context.Context) (Changes, error) {
	d.notifier.reloading()
	set, err := d.load()
	if err != nil {
		d.metrics.loadFailed()
		d.logProblems(err)
		d.notifier.ready(d.summary() + "; the last reload failed, the configuration before it is in force")
		return Changes{}, err
	}
	changes := changesOf(d.set, set, d.started)
	d.adopt(ctx, set)
	d.metrics.loaded(time.Now())
	d.log.Info("configuration reloaded", changes.facts(len(set.bindings))...)
	for _, key := range changes.TakeRestart {
		d.log.Warn("setting changed, which takes a restart", "key", key)
	}
	d.notifier.ready(d.summary())
	return changes, nil
}

func (d *Daemon) logProblems(err error) {
	var problems config.Problems
	if !errors.As(err, &problems) {
		d.log.Error("cannot reload the configuration", "err", err)
	}
	for _, p := range problems {
		d.log.Error("cannot reload the configuration", "err", p.String())
	}
	d.log.Error("nothing was reloaded; the configuration before stays in force")
}

// adopt puts the Set in force: workloads that stay keep their history and, where nothing changed,
// what they are bound to. What the Set before held and this one does not is closed once no
// evaluation uses it.
func (d *Daemon) adopt(ctx context.Context, set *Set) {
	old, before := d.set, d.workloads
	workloads := make(map[string]*workload, len(set.bindings))
	order := make([]*workload, len(set.bindings))
	var replaced []*binding
	var handovers []handover
	for i, b := range set.bindings {
		w := before[b.config.Name]
		switch {
		case w == nil:
			w = newWorkload(b, d.log, time.Now())
			d.recall(w, b, set.cfg.Daemon.SyncPeriod)
			handovers = append(handovers, handover{workload: w, to: b})
		case w.binding() != b:
			from := w.binding()
			replaced = append(replaced, from)
			handovers = append(handovers, handover{workload: w, from: from, to: b})
		}
		workloads[w.name], order[i] = w, w
	}
	for name, w := range before {
		if workloads[name] == nil {
			replaced = append(replaced, w.binding())
			w.bind(nil)
		}
	}
	d.handOver(ctx, handovers)
	d.mu.Lock()
	d.set, d.workloads, d.order = set, workloads, order
	d.mu.Unlock()
	d.state.forgetOthers(workloads)
	d.scheduler.plan(turns(groups(order), set.cfg.Daemon.SyncPeriod, time.Now()))
	d.retire(old, set, replaced)
}

// retire closes what only the old Set holds, once the evaluations that use it are over, and drops
// the series of what has no successor: not before, for these evaluations still add to them.
func (d *Daemon) retire(old, set *Set, replaced []*binding) {
	if old == set {
		return
	}
	d.retiring.Go(func() {
		for _, b := range replaced {
			b.users.Wait()
		}
		if err := old.closeExcept(set); err != nil {
			d.log.Warn("cannot release what the last reload replaced", "err", err)
		}
		d.forgetMissing(old)
	})
}

// forgetMissing drops the series of the sources and targets that are no longer configured.
func (d *Daemon) forgetMissing(old *Set) {
	current := d.inForce()
	for name := range old.sources {
		if current.sources[name] == nil {
			d.metrics.calls.forgetSource(name)
		}
	}
	for name := range old.connections {
		if current.connections[name] == nil {
			d.metrics.calls.forgetTarget(name)
		}
	}
}
