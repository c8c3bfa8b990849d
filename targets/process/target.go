package process

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hpad/hpad/targets"
)

// closeMargin is how long after the grace Close waits for the end of what it has killed.
const closeMargin = time.Second

// maxFaults is how many waiting instances Status warns of one by one.
const maxFaults = 5

// target is the instances of one command.
type target struct {
	connection *connection
	set        *settings
	id         string
	client     *http.Client
	log        *slog.Logger

	supervising sync.WaitGroup
	// closing is closed when nothing runs any more after Close.
	closing   sync.Once
	allEnded  chan struct{}
	mu        sync.Mutex
	wanted    int32
	version   int // counts the changes of wanted
	active    bool
	closed    bool
	instances map[int]*instance // by number; those that stop are among them
}

func newTarget(c *connection, set *settings) *target {
	id := set.id()
	return &target{
		connection: c, set: set, id: id, client: newClient(),
		log:      c.log.With(slog.String("id", id), slog.String("command", filepath.Base(set.program))),
		allEnded: make(chan struct{}), wanted: set.Replicas, instances: map[int]*instance{},
	}
}

// ID is a digest of what makes the processes what they are.
func (t *target) ID() string { return t.id }

// InitialReplicas is the configured count, which Activate starts unless Resume was told another.
func (t *target) InitialReplicas() int32 { return t.set.Replicas }

// LabelWorkload has what is logged from now on name the workload. It is called before Activate.
func (t *target) LabelWorkload(name string) {
	t.edit(func() {
		if !t.active {
			t.log = t.log.With(slog.String("workload", name))
		}
	})
}

// Resume sets the count that Activate starts, in the place of the configured one.
func (t *target) Resume(replicas int32) {
	t.edit(func() {
		if !t.active && replicas >= 0 && int(replicas) <= t.set.mostReplicas() {
			t.wanted = replicas
		}
	})
}

// Activate starts the first instances. What cannot be started is tried again, and told by Status.
func (t *target) Activate(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.unusable(ctx, "cannot start"); err != nil {
		return err
	}
	t.active = true
	t.resize()
	return nil
}

// Status reports the instances, those included that are stopping. StatusReplicas counts those that
// are to stay, whether they run or wait to be restarted, as the status.replicas of a Kubernetes
// ReplicaSet does.
func (t *target) Status(ctx context.Context) (targets.Status, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.unusable(ctx, "cannot read"); err != nil {
		return targets.Status{}, err
	}
	status := targets.Status{SpecReplicas: t.wanted, Version: strconv.Itoa(t.version)}
	for _, i := range t.ordered() {
		status.Instances = append(status.Instances, i.seen(t))
		if i.stopping {
			continue
		}
		status.StatusReplicas++
		if i.fault != "" {
			status.Warnings = append(status.Warnings, i.fault)
		}
	}
	if n := len(status.Warnings) - maxFaults; n > 0 {
		status.Warnings = append(status.Warnings[:maxFaults], fmt.Sprintf("%d more instances wait to be restarted", n))
	}
	return status, nil
}

// SetReplicas starts instances with the lowest free numbers, or stops those with the highest.
func (t *target) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.unusable(ctx, "cannot scale"); err != nil {
		return err
	}
	switch {
	case replicas < 0:
		return targets.Errorf(targets.Invalid, "cannot scale %q to %d replicas", t.id, replicas)
	case int(replicas) > t.set.mostReplicas():
		return targets.Errorf(targets.OutOfRange, "cannot scale %q to %d replicas: from port %d on there are ports for %d",
			t.id, replicas, t.set.Port, t.set.mostReplicas())
	case replicas == t.wanted:
		return nil
	case from.Version != strconv.Itoa(t.version):
		return targets.Errorf(targets.Conflict, "cannot scale %q: it was changed since it was read", t.id)
	}
	t.wanted = replicas
	t.version++
	t.resize()
	return nil
}

// Close stops all instances and returns when they have ended, or the grace and closeMargin are
// over.
func (t *target) Close() error {
	t.edit(func() {
		t.closed = true
		for _, i := range t.instances {
			i.end()
		}
	})
	t.closing.Do(func() {
		go func() {
			t.supervising.Wait()
			close(t.allEnded)
		}()
	})
	timer := time.NewTimer(t.set.StopGrace.Std() + closeMargin)
	defer timer.Stop()
	select {
	case <-t.allEnded:
		return nil
	case <-timer.C:
		return fmt.Errorf("cannot stop all of %q: some instances have not ended %v after they were killed", t.id, closeMargin)
	}
}

func (t *target) edit(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
}

// unusable returns the error of a call that cannot be served at all.
func (t *target) unusable(ctx context.Context, what string) error {
	if err := ctx.Err(); err != nil {
		return targets.Errorf(targets.Unavailable, "%s %q: %w", what, t.id, err)
	}
	if t.closed {
		return targets.Errorf(targets.Unavailable, "%s %q: it is closed", what, t.id)
	}
	return nil
}

// resize makes as many instances as are wanted stay.
func (t *target) resize() {
	if !t.active {
		return
	}
	var staying []*instance
	for _, i := range t.ordered() {
		if !i.stopping {
			staying = append(staying, i)
		}
	}
	wanted := int(t.wanted)
	for n := len(staying); n > wanted; n-- {
		staying[n-1].end()
	}
	number := 0
	for n := len(staying); n < wanted; n++ {
		for number++; t.instances[number] != nil; number++ {
		}
		t.begin(number)
	}
}

func (t *target) begin(number int) {
	i := &instance{
		number: number, log: t.log.With(slog.Int("instance", number)),
		stop: make(chan struct{}), changed: time.Now(),
	}
	t.instances[number] = i
	t.supervising.Go(func() { t.supervise(i) })
}

// end lets an instance stop.
func (i *instance) end() {
	if !i.stopping {
		i.stopping = true
		close(i.stop)
	}
}

// forget frees the number of an instance that has ended.
func (t *target) forget(i *instance) { t.edit(func() { delete(t.instances, i.number) }) }

// ordered are the instances by their numbers.
func (t *target) ordered() []*instance {
	return slices.SortedFunc(maps.Values(t.instances), func(a, b *instance) int { return cmp.Compare(a.number, b.number) })
}
