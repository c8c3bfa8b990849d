package docker

import (
	"context"
	"strconv"
)

// repair fills slots that have been empty for long, in the background.
func (t *target) repair(s *scene) {
	if len(s.overdue) == 0 || len(t.ledger.blocks(s)) > 0 || !t.ledger.beginRepair() {
		return
	}
	t.connection.work.run(func(ctx context.Context) {
		defer t.ledger.endRepair()
		ctx, cancel := t.connection.engine.Limit(ctx)
		defer cancel()
		unlock, ok := t.ledger.lock(ctx.Done())
		if !ok {
			return
		}
		defer unlock()
		if err := t.refill(ctx); err != nil && !ended(err) {
			t.fail(err.Error(), true)
		}
	})
}

func (t *target) refill(ctx context.Context) error {
	s, err := t.look(ctx)
	if err != nil {
		return err
	}
	var numbers []int
	for _, slot := range s.overdue {
		if number, err := strconv.Atoi(slot); err == nil {
			numbers = append(numbers, number)
		} else {
			t.ledger.drop(slot) // a clone without a number cannot be made again
		}
	}
	clones, err := t.cloneAll(ctx, s, numbers)
	if err != nil {
		return err
	}
	for _, c := range clones {
		t.start(c)
	}
	return nil
}

func (l *ledger) beginRepair() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.acts || l.repairing {
		return false
	}
	l.repairing = true
	return true
}

func (l *ledger) endRepair() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.repairing = false
}
