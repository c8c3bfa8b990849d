package docker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// work is what goes on in the background of a connection.
type work struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	starts chan struct{} // slots
}

// maxStarts is how many containers are created or started at once.
const maxStarts = 8

func newWork() *work {
	w := &work{starts: make(chan struct{}, maxStarts)}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (w *work) run(job func(context.Context)) {
	w.wg.Go(func() {
		if w.ctx.Err() == nil {
			job(w.ctx)
		}
	})
}

func (w *work) close() {
	w.cancel()
	w.wg.Wait()
}

const (
	// startTimeout bounds one start.
	startTimeout = 2 * time.Minute
	// longestStop bounds the wait for containers that are never to be killed.
	longestStop = time.Hour
	// stopMargin is what an engine may take longer than the container's own timeout.
	stopMargin = time.Minute
)

// start starts a clone. One that cannot be started is removed at once, and growth is held.
func (t *target) start(c *clone) {
	t.connection.work.run(func(ctx context.Context) {
		err := t.underSlot(ctx, func(ctx context.Context) error { return t.connectAndStart(ctx, c) })
		if err == nil || settled(err) || ended(err) {
			return
		}
		t.fail(fmt.Sprintf("cannot start container %q: %v", c.name, dockerapi.Plain(err)), true)
		t.ledger.drop(c.slot())
		t.discard(ctx, c.id, c.name)
	})
}

// resume starts a container that was stopped.
func (t *target) resume(m *member) {
	t.connection.work.run(func(ctx context.Context) {
		defer t.ledger.ended(t.ledger.rising, m.id)
		err := t.underSlot(ctx, func(ctx context.Context) error { return t.startContainer(ctx, m.id) })
		if err != nil && !settled(err) && !ended(err) {
			t.fail(fmt.Sprintf("cannot start container %q: %v", m.name, dockerapi.Plain(err)), true)
		}
	})
}

// underSlot runs a start when fewer than maxStarts are under way.
func (t *target) underSlot(ctx context.Context, start func(context.Context) error) error {
	slots := t.connection.work.starts
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-slots }()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return start(ctx)
}

func (t *target) startContainer(ctx context.Context, id string) error {
	return t.connection.engine.ContainerStart(ctx, id, container.StartOptions{})
}

// end stops a container with its own signal and timeout, after which the engine kills it, and then
// removes it if asked to. If that fails the container counts again.
func (t *target) end(m *member, remove bool) {
	t.connection.work.run(func(ctx context.Context) {
		defer t.ledger.ended(t.ledger.leaving, m.id)
		wait := m.stopTimeout()
		if wait < 0 || wait > longestStop {
			wait = longestStop
		}
		within, cancel := context.WithTimeout(ctx, wait+stopMargin)
		defer cancel()
		err := t.connection.engine.ContainerStop(within, m.id, container.StopOptions{})
		if err != nil && !settled(err) && !ended(err) {
			t.fail(fmt.Sprintf("cannot stop container %q: %v", m.name, dockerapi.Plain(err)), false)
			return
		}
		if remove && err == nil {
			t.discard(ctx, m.id, m.name)
		}
	})
}

// discard removes a container that does not run, with the volumes that have no name.
func (t *target) discard(ctx context.Context, id, name string) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := t.connection.engine.ContainerRemove(ctx, id, container.RemoveOptions{RemoveVolumes: true})
	if err != nil && !settled(err) && !ended(err) {
		t.fail(fmt.Sprintf("cannot remove container %q: %v", name, dockerapi.Plain(err)), false)
	}
}

// fail tells the next Status, and the log, what went wrong in the background.
func (t *target) fail(message string, holds bool) {
	t.connection.log.Warn(message, slog.String("target", t.ID()))
	t.ledger.failed(message, time.Now(), holds)
}
