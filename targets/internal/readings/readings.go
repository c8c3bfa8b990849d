// Package readings shares what drivers read of an engine or a manager among all who ask.
package readings

import (
	"context"
	"sync"
	"time"
)

// Readings shares what is read of an engine among all who ask, without ever being old: a call
// takes part in a reading that begins after the call. While one is under way, later calls gather
// for the next. So a burst of evaluations costs two readings, and a single one costs its own.
type Readings[V any] struct {
	read   func(ctx context.Context, names []string) (map[string]V, error)
	ctx    context.Context
	cancel context.CancelFunc
	loop   sync.WaitGroup

	mu      sync.Mutex
	running bool
	next    *reading[V]
}

type reading[V any] struct {
	names  map[string]bool
	begun  time.Time
	done   chan struct{}
	values map[string]V
	err    error
}

// New makes Readings by a function that reads what is known by each of the names.
func New[V any](read func(context.Context, []string) (map[string]V, error)) *Readings[V] {
	r := &Readings[V]{read: read}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Get returns what a reading that began after the call says of the name, and when it began; false
// if there is nothing of that name.
func (r *Readings[V]) Get(ctx context.Context, name string) (value V, begun time.Time, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return value, begun, false, err
	}
	joined := r.join(name)
	select {
	case <-joined.done:
		value, ok = joined.values[name]
		return value, joined.begun, ok, joined.err
	case <-ctx.Done():
		return value, begun, false, ctx.Err()
	}
}

func (r *Readings[V]) join(name string) *reading[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &reading[V]{names: map[string]bool{}, done: make(chan struct{})}
	}
	r.next.names[name] = true
	if !r.running {
		r.running = true
		r.loop.Go(r.run)
	}
	return r.next
}

// run makes readings until nobody waits for one.
func (r *Readings[V]) run() {
	for {
		r.mu.Lock()
		now := r.next
		r.next = nil
		r.running = now != nil
		r.mu.Unlock()
		if now == nil {
			return
		}
		names := make([]string, 0, len(now.names))
		for name := range now.names {
			names = append(names, name)
		}
		now.begun = time.Now()
		now.values, now.err = r.read(r.ctx, names)
		close(now.done)
	}
}

// Close ends what is under way.
func (r *Readings[V]) Close() {
	r.cancel()
	r.loop.Wait()
}
