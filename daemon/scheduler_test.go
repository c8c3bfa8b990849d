package daemon

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPlanKeepsTurnsThatAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int32
		s := newScheduler(func(*workload, *round) { begun.Add(1) })
		members := []*workload{{}}
		s.plan([]*turn{{due: time.Now(), every: time.Minute, members: members}})
		s.plan([]*turn{{due: time.Now().Add(time.Minute), every: time.Minute, members: members}})
		ctx, cancel := context.WithCancel(context.Background())
		go s.run(ctx)
		pass(time.Second)
		if n := begun.Load(); n != 1 {
			t.Errorf("the turn that was due when another plan came began %d times, want once", n)
		}
		pass(time.Minute)
		if n := begun.Load(); n != 2 {
			t.Errorf("%d turns after a minute, want 2", n)
		}
		cancel()
	})
}

func TestTurnsMissedWhileTheMachineSleptAreNotMadeUpFor(t *testing.T) {
	s := newScheduler(nil)
	began := time.Now()
	s.plan([]*turn{{due: began, every: 15 * time.Second, members: []*workload{{}}}})
	if s.take(began.Add(time.Hour)) == nil {
		t.Fatal("the turn that is due was not taken")
	}
	if s.take(began.Add(time.Hour)) != nil {
		t.Error("a missed turn was made up for")
	}
	if due := s.turns[0].due; !due.Equal(began.Add(time.Hour + 15*time.Second)) {
		t.Errorf("the next turn is %s after the first, want 1h0m15s", due.Sub(began))
	}
}

func TestClosersRunInReverseAndNameWhatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c closers
		var order []string
		stuck := make(chan struct{})
		c.push("first", func(context.Context) error { order = append(order, "first"); return nil })
		c.push("second", func(context.Context) error { <-stuck; return nil })
		c.push("third", func(context.Context) error { order = append(order, "third"); return nil })
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := c.run(ctx)
		if err == nil || err.Error() != "cannot stop second: context deadline exceeded" {
			t.Errorf("run: %v, want an error that names the second step", err)
		}
		synctest.Wait()
		if len(order) != 2 || order[0] != "third" || order[1] != "first" {
			t.Errorf("steps done: %v, want third and first", order)
		}
		close(stuck)
	})
}
