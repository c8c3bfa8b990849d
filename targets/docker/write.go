package docker

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hpad/hpad/targets"
)

// SetReplicas creates containers, which it then starts in the background, or stops them there.
func (t *target) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	if replicas < 0 {
		return targets.Errorf(targets.Invalid, "cannot scale %q to %d replicas", t.selector, replicas)
	}
	ctx, cancel := t.connection.engine.Limit(ctx)
	defer cancel()
	unlock, ok := t.ledger.lock(ctx.Done())
	if !ok {
		return targets.Errorf(targets.Unavailable, "cannot scale %q: %w", t.selector, ctx.Err())
	}
	defer unlock()
	s, err := t.look(ctx)
	if err != nil {
		return err
	}
	if s.wanted == int(replicas) {
		return nil
	}
	if err := t.refuse(s, from, replicas); err != nil {
		return err
	}
	if int(replicas) > s.wanted {
		err = t.grow(ctx, s, int(replicas)-s.wanted)
	} else {
		err = t.shrink(s, s.wanted-int(replicas), replicas == 0)
	}
	if err != nil {
		return err
	}
	t.ledger.act()
	t.reap(s)
	return nil
}

// grow starts what others have stopped, finishes clones that were never started, and makes new
// ones. Nothing is started before all of it is accepted.
func (t *target) grow(ctx context.Context, s *scene, n int) error {
	stopped := t.resumable(s, n)
	clones, err := t.cloneAll(ctx, s, t.plan(s, n-len(stopped)))
	if err != nil {
		return err
	}
	t.ledger.mu.Lock()
	for _, c := range clones {
		t.ledger.kept[c.slot()] = time.Time{}
	}
	for _, m := range stopped {
		t.ledger.rising[m.id] = mark{}
	}
	t.ledger.mu.Unlock()
	for _, c := range clones {
		t.start(c)
	}
	for _, m := range stopped {
		t.resume(m)
	}
	return nil
}

// resumable returns up to n stopped containers, the template first.
func (t *target) resumable(s *scene, n int) []*member {
	list := slices.DeleteFunc(slices.Clone(s.stopped), func(m *member) bool { return !m.resumable() || m.replaced() })
	slices.SortFunc(list, templateOrder)
	return list[:min(n, len(list))]
}

// plan numbers n clones: those first that were created by an hpad that then ended, then behind the
// highest number there is, as Compose does.
func (t *target) plan(s *scene, n int) []int {
	highest := 0
	var numbers []int
	for _, m := range s.members {
		highest = max(highest, m.number)
	}
	for _, slot := range s.empty {
		if number, err := strconv.Atoi(slot); err == nil {
			highest = max(highest, number)
		}
	}
	for _, m := range s.rests {
		if len(numbers) < n && s.halfMade(m) {
			numbers = append(numbers, m.number)
		}
	}
	slices.Sort(numbers)
	for len(numbers) < n {
		highest++
		numbers = append(numbers, highest)
	}
	return numbers
}

// halfMade tells whether a clone was created, never started, and would be made the same now.
func (s *scene) halfMade(m *member) bool {
	return m.fresh() && m.number > 0 && !m.outdated(s.template)
}

// cloneAll creates clones with these numbers, or none: after an error those that were made are
// removed.
func (t *target) cloneAll(ctx context.Context, s *scene, numbers []int) ([]*clone, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	b, err := t.blueprint(ctx, s.template)
	if err != nil {
		return nil, err
	}
	clones, errs := make([]*clone, len(numbers)), make([]error, len(numbers))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxStarts)
	for i, number := range numbers {
		clones[i] = &clone{blueprint: b, number: number, name: t.selector.cloneName(s.template, number)}
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = t.create(ctx, clones[i])
			<-slots
		})
	}
	wg.Wait()
	err = first(errs)
	if err == nil {
		return clones, nil
	}
	for _, c := range clones {
		if c.id != "" && !c.found {
			t.connection.work.run(func(ctx context.Context) { t.discard(ctx, c.id, c.name) })
		}
	}
	return nil, err
}

// first returns the first error, if possible one that leaves open what was done.
func first(errs []error) error {
	var found error
	for _, err := range errs {
		if err != nil && (found == nil || targets.ClassOf(err, true) == targets.Uncertain) {
			found = err
		}
	}
	return found
}

// shrink gives up slots that are empty, and then stops containers. The template is stopped for no
// replicas at all, and kept to start it again.
func (t *target) shrink(s *scene, n int, all bool) error {
	if all && removedWhenStopped(&s.template.seen) {
		return targets.Errorf(targets.Invalid, "cannot scale %q to 0 replicas: container %q would be gone when it is stopped (--rm)", t.selector, s.template.name)
	}
	dropped := s.empty[:min(n, len(s.empty))]
	list := victims(s.live, s.template, n-len(dropped))
	stopTemplate := all && slices.ContainsFunc(s.live, func(m *member) bool { return m.id == s.template.id })
	t.ledger.mu.Lock()
	for _, slot := range dropped {
		delete(t.ledger.kept, slot)
	}
	for _, m := range list {
		delete(t.ledger.kept, m.slot)
		t.ledger.leaving[m.id] = mark{}
	}
	if stopTemplate {
		delete(t.ledger.kept, s.template.slot)
		t.ledger.leaving[s.template.id] = mark{}
	}
	t.ledger.mu.Unlock()
	for _, m := range list {
		t.end(m, true)
	}
	if stopTemplate {
		t.end(s.template, false)
	}
	return nil
}

// youngest is the age from which on a clone that was never started is taken for a leftover: until
// then whoever has created it may be about to start it.
const youngest = time.Minute

// reap removes clones that have ended, and those that were never started and are not needed.
func (t *target) reap(s *scene) {
	for _, m := range s.rests {
		young := m.fresh() && s.now.Sub(moment(m.seen.Created)) < youngest
		if young || m.id == s.template.id || t.ledger.keeps(m) {
			continue
		}
		t.connection.work.run(func(ctx context.Context) { t.discard(ctx, m.id, m.name) })
	}
}

// keeps tells whether a clone is kept after all.
func (l *ledger) keeps(m *member) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, kept := l.kept[m.slot]
	return kept && m.fresh()
}

func (l *ledger) act() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acts = true
}
