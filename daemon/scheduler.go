package daemon

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// turn is a time at which workloads are evaluated together.
type turn struct {
	due time.Time
	// every is the time to the next turn; 0 for a turn that happens once.
	every   time.Duration
	members []*workload
}

// scheduler waits for turns and begins the evaluations of their members.
type scheduler struct {
	// begin starts the evaluation of the workload and returns at once.
	begin func(w *workload, r *round)
	// beat is called at least every beatEvery by the loop that begins evaluations, and by nothing
	// else: it proves that the loop goes on.
	beat      func()
	beatEvery time.Duration

	wake chan struct{}

	mu    sync.Mutex
	turns turnQueue
}

func newScheduler(begin func(*workload, *round)) *scheduler {
	return &scheduler{begin: begin, wake: make(chan struct{}, 1)}
}

// plan replaces all turns but those that are due already and did not begin yet.
func (s *scheduler) plan(turns []*turn) {
	now := time.Now()
	s.mu.Lock()
	for _, t := range s.turns {
		if !t.due.After(now) {
			turns = append(turns, &turn{due: t.due, members: t.members})
		}
	}
	s.turns = turns
	heap.Init(&s.turns)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run begins evaluations until ctx ends.
func (s *scheduler) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	lastBeat := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		if s.beatEvery > 0 && time.Since(lastBeat) >= s.beatEvery {
			s.beat()
			lastBeat = time.Now()
		}
		s.beginDue(ctx)
		timer.Reset(time.Until(s.wakeUp(lastBeat)))
	}
}

// wakeUp is when the loop has something to do next.
func (s *scheduler) wakeUp(lastBeat time.Time) time.Time {
	next := time.Now().Add(time.Hour)
	if s.beatEvery > 0 {
		next = lastBeat.Add(s.beatEvery)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) > 0 && s.turns[0].due.Before(next) {
		next = s.turns[0].due
	}
	return next
}

func (s *scheduler) beginDue(ctx context.Context) {
	for ctx.Err() == nil {
		now := time.Now()
		members := s.take(now)
		if members == nil {
			return
		}
		r := newRound(now)
		for _, w := range members {
			s.begin(w, r)
		}
	}
}

// take returns the members of the first turn that is due, and plans its next time; nil if none is.
func (s *scheduler) take(now time.Time) []*workload {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 || s.turns[0].due.After(now) {
		return nil
	}
	t := s.turns[0]
	if t.every == 0 {
		heap.Pop(&s.turns)
		return t.members
	}
	// Turns missed while the machine slept are not made up for.
	missed := now.Sub(t.due) / t.every
	t.due = t.due.Add((missed + 1) * t.every)
	heap.Fix(&s.turns, 0)
	return t.members
}

// turnQueue is a heap ordered by due time.
type turnQueue []*turn

func (q turnQueue) Len() int           { return len(q) }
func (q turnQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q turnQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *turnQueue) Push(x any)        { *q = append(*q, x.(*turn)) }

func (q *turnQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	*q = (*q)[:last]
	return t
}
