package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// handover puts a workload under a new binding; from is nil if the workload is new.
type handover struct {
	workload *workload
	from, to *binding
}

// resumer is implemented by targets that hpad itself runs.
type resumer interface {
	// InitialReplicas is how many the configuration says to begin with.
	InitialReplicas() int32
	// Resume tells a new target, before it is activated, how many replicas the one it takes the
	// place of was asked for.
	Resume(replicas int32)
}

// labeler is implemented by targets that hpad itself runs: what they log from then on names the
// workload.
type labeler interface{ LabelWorkload(name string) }

// maxHandovers is how many workloads are handed over at once.
const maxHandovers = 16

// handOver puts workloads under their new bindings and activates targets that hpad itself runs.
func (d *Daemon) handOver(ctx context.Context, handovers []handover) {
	slots := make(chan struct{}, maxHandovers)
	var wg sync.WaitGroup
	for _, h := range handovers {
		activator, active := h.to.target.Target.(targets.Activator)
		if !active || h.from != nil && h.from.target == h.to.target {
			h.workload.bind(h.to)
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			d.activate(ctx, h, activator)
		})
	}
	wg.Wait()
}

// activate stops what the old target runs before the new one starts its own, for the two may need
// the same ports and files. Meanwhile the workload is not evaluated.
func (d *Daemon) activate(ctx context.Context, h handover, activator targets.Activator) {
	within, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if h.from != nil {
		h.workload.bind(nil)
		if err := bounded(within, func(context.Context) error { h.from.users.Wait(); return nil }); err != nil {
			h.workload.log.Warn("cannot wait any longer for the last evaluation of the target that is replaced", "err", err)
		}
		d.resume(within, h)
		if err := h.from.target.Close(); err != nil {
			h.workload.log.Warn("cannot close the target before its successor starts", "err", err)
		}
	} else {
		h.workload.resumeAfterRestart(h.to)
	}
	if target, ok := h.to.target.Target.(labeler); ok {
		target.LabelWorkload(h.workload.name)
	}
	err := guarded(func() error { return activator.Activate(within) })
	if err != nil {
		h.workload.log.Warn("cannot activate the target", "err", err)
	}
	h.workload.bind(h.to)
}

// resume tells the new target the size of the old one, unless the operator gave it another one.
func (d *Daemon) resume(ctx context.Context, h handover) {
	successor, ok := h.to.target.Target.(resumer)
	if !ok {
		return
	}
	if old, ok := h.from.target.Target.(resumer); ok && old.InitialReplicas() != successor.InitialReplicas() {
		h.workload.beginAt(successor.InitialReplicas(), time.Now())
		return
	}
	status, err := h.from.connection.calls.status(ctx, h.from.target)
	if err != nil {
		h.workload.log.Warn("cannot tell the size of the target that is replaced", "err", err)
		return
	}
	successor.Resume(status.SpecReplicas)
}

// beginAt takes note that a target that hpad itself runs begins at 0 replicas because the
// configuration says so, not because somebody turned it off: the metrics may bring it back.
func (w *workload) beginAt(replicas int32, now time.Time) {
	if replicas == 0 {
		w.history.state.Status.Conditions[algorithm.ScaledToZero] = algorithm.Condition{
			Status: algorithm.ConditionTrue, Reason: algorithm.ReasonScaledToZero,
			Message: "the configuration begins with 0 replicas", Since: now,
		}
	}
}
