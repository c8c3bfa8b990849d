package sources

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// DefaultInFlight is a number of queries a source is usually asked at the same time.
const DefaultInFlight = 16

// Shared is a Querier that asks another one each question once per evaluation time, however many
// ask. Who comes while the answer is under way waits for it; who comes later gets it from memory.
// Errors are answers too.
//
// A question has a deadline of its own, counted from when it is sent, so that a caller who gives
// up spoils nothing for the others; when all have given up it is cancelled, and forgotten.
// An answer is kept until its question is asked for a newer time, or until the second newer time
// that anything is asked for: memory holds the answers of two evaluation times at most.
type Shared struct {
	querier  Querier
	timeout  time.Duration
	inFlight int

	mu     sync.Mutex
	calls  map[Query]*call
	newest time.Time
	// unasked are the calls no worker took yet, in the order they came.
	unasked []*call
	// workers is how many goroutines ask. There are at most inFlight, and none without a question:
	// one that asks many questions has grown its stack once for all of them.
	workers int
}

// call is a question asked once.
type call struct {
	query   Query
	at      time.Time
	waiters int
	// cancel is nil until the question is asked.
	cancel context.CancelFunc
	done   chan struct{}

	// What follows is written before done is closed, and read after.
	result   *Result
	err      error
	panicked string
}

// NewShared returns a Shared in front of q that waits timeout for each answer, and asks at most
// inFlight questions at once (DefaultInFlight if that is not positive).
func NewShared(q Querier, timeout time.Duration, inFlight int) *Shared {
	if inFlight <= 0 {
		inFlight = DefaultInFlight
	}
	return &Shared{
		querier:  q,
		timeout:  timeout,
		inFlight: inFlight,
		calls:    map[Query]*call{},
	}
}

// Query returns the answer to q as of the time `at`, from whoever asked first. A panic of the
// Querier is the panic of everybody who waits for it.
func (s *Shared) Query(ctx context.Context, q Query, at time.Time) (*Result, error) {
	c := s.join(q, at)
	select {
	case <-c.done:
	case <-ctx.Done():
		s.leave(c)
		return nil, Errorf(Unavailable, "query %q: no answer in time: %w", shorten(q.Text), context.Cause(ctx))
	}
	if c.panicked != "" {
		panic(c.panicked)
	}
	return c.result, c.err
}

// Drop forgets all answers.
func (s *Shared) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.calls)
}

// join returns the call for q at that time, a new one if there is none.
func (s *Shared) join(q Query, at time.Time) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.calls[q]
	if known != nil && known.at.Equal(at) {
		known.waiters++
		return known
	}
	c := &call{query: q, at: at, waiters: 1, done: make(chan struct{})}
	if known == nil || at.After(known.at) {
		s.forgetBefore(at)
		s.calls[q] = c
	}
	s.unasked = append(s.unasked, c)
	if s.workers < s.inFlight {
		s.workers++
		go s.work()
	}
	return c
}

// forgetBefore drops what is older than the last time anything was asked for, when a newer comes.
func (s *Shared) forgetBefore(at time.Time) {
	if !at.After(s.newest) {
		return
	}
	for q, c := range s.calls {
		if c.at.Before(s.newest) {
			delete(s.calls, q)
		}
	}
	s.newest = at
}

// leave is what a caller does who does not wait any longer.
func (s *Shared) leave(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.waiters--
	if c.waiters > 0 {
		return
	}
	select {
	case <-c.done:
		return
	default:
	}
	if c.cancel != nil {
		c.cancel()
	}
	if s.calls[c.query] == c {
		delete(s.calls, c.query)
	}
}

// work asks until no question is left.
func (s *Shared) work() {
	for {
		c, ctx := s.next()
		if c == nil {
			return
		}
		s.ask(ctx, c)
	}
}

// next returns the oldest call somebody waits for, and the context to ask in; nil if there is
// none, and the worker ends.
func (s *Shared) next() (*call, context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.unasked) > 0 {
		c := s.unasked[0]
		s.unasked[0] = nil
		s.unasked = s.unasked[1:]
		if c.waiters > 0 {
			var ctx context.Context
			ctx, c.cancel = context.WithTimeout(context.Background(), s.timeout)
			return c, ctx
		}
	}
	s.unasked = nil
	s.workers--
	return nil, nil
}

func (s *Shared) ask(ctx context.Context, c *call) {
	defer close(c.done)
	defer c.cancel()
	defer func() {
		if p := recover(); p != nil {
			c.panicked = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		}
	}()
	result, err := s.querier.Query(ctx, c.query, c.at)
	switch {
	case err == nil:
		c.result = result.Of(c.query)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		c.err = Errorf(Unavailable, "query %q: no answer within %s: %w", shorten(c.query.Text), s.timeout, err)
	default:
		c.err = err
	}
}
