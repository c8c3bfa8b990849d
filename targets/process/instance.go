package process

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// instance is one of the numbered copies of the command, from when it is wanted until it has
// stopped. Between two runs it waits.
type instance struct {
	number int
	log    *slog.Logger
	stop   chan struct{} // closed when it is wanted no more

	// What follows is guarded by the target's mutex.

	stopping bool
	running  *run // nil while it waits for its next run
	ready    bool
	// changed is when ready changed last.
	changed time.Time
	// fault says why it waits.
	fault string
}

// supervise runs an instance until it is wanted no more.
func (t *target) supervise(i *instance) {
	defer t.forget(i)
	pauses := backoff{first: t.set.RestartBackoff.Std(), most: t.set.RestartMax.Std(), healthyAfter: t.set.HealthyAfter.Std()}
	for !stopped(i.stop) {
		ran, ending := t.runOnce(i)
		if stopped(i.stop) {
			return
		}
		pause := pauses.next(ran)
		fault := fmt.Sprintf("instance %d %s, restarts in %v", i.number, ending, options.Duration(pause))
		t.edit(func() { i.fault = fault })
		i.log.Warn("instance is restarted", slog.String("because", ending), slog.Duration("in", pause))
		sleep(pause, i.stop)
	}
}

// runOnce runs the command to its end, and says how long it ran and how it ended.
func (t *target) runOnce(i *instance) (ran time.Duration, ending string) {
	r, err := t.start(i)
	if err != nil {
		return 0, fmt.Sprintf("cannot start: %v", err)
	}
	i.log.Info("instance started", slog.Int("pid", r.pid))
	readiness, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		t.watch(readiness, i)
	}()
	select {
	case <-r.done:
	case <-i.stop:
		r.stop(t.set.signal, t.set.StopGrace.Std())
		i.log.Info("instance stopped", slog.String("ending", r.ending()))
	}
	cancel()
	<-watched
	t.edit(func() {
		i.running = nil
		i.setReady(false)
	})
	ran = time.Since(r.started)
	r.output.end()
	return ran, r.ending()
}

func (t *target) start(i *instance) (*run, error) {
	if port := t.set.port(i.number); port > maxPort {
		return nil, fmt.Errorf("its port %d does not exist", port)
	}
	out, err := t.set.newOutlet(i.number, i.log)
	if err != nil {
		return nil, err
	}
	r, err := begin(t.connection.starter, t.set.command(i.number), out)
	if err != nil {
		return nil, err
	}
	t.edit(func() {
		i.running, i.fault = r, ""
		if t.set.ReadyHTTP == "" {
			i.setReady(true)
		}
	})
	return r, nil
}

func (i *instance) setReady(ready bool) {
	if i.ready != ready {
		i.ready, i.changed = ready, time.Now()
	}
}

// seen is the instance as Status reports it.
func (i *instance) seen(t *target) targets.Instance {
	name := strconv.Itoa(i.number)
	seen := targets.Instance{Identifiers: []string{name}}
	seen.ID = name
	seen.Deleting = i.stopping
	seen.Phase = algorithm.PhasePending
	seen.Ready = algorithm.NotReady
	seen.ReadyTransition = i.changed
	if port := t.set.port(i.number); port > 0 {
		for _, host := range t.connection.hosts {
			seen.Identifiers = append(seen.Identifiers, net.JoinHostPort(host, strconv.Itoa(port)))
		}
	}
	if i.running == nil {
		return seen
	}
	seen.Phase = algorithm.PhaseRunning
	seen.PID = i.running.pid
	seen.Started = i.running.started
	if pid := strconv.Itoa(seen.PID); pid != name {
		seen.Identifiers = append(seen.Identifiers, pid)
	}
	if i.ready {
		seen.Ready = algorithm.Ready
	}
	return seen
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// sleep returns when the time is over, or stop is closed.
func sleep(d time.Duration, stop <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	}
}
