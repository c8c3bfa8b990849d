package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/hpad/hpad/sources"
)

// round is one turn of a group. It remembers the answers of its queries until its last evaluation
// is over, however long that takes and whatever other groups ask meanwhile.
type round struct {
	// at is the time of all evaluations in the round.
	at time.Time

	mu      sync.Mutex
	answers map[askedQuery]*answer
}

// answer is complete once done is closed.
type answer struct {
	done   chan struct{}
	result *sources.Result
	err    error
}

func newRound(at time.Time) *round {
	return &round{at: at, answers: map[askedQuery]*answer{}}
}

// query asks the source, once for everybody in the round.
func (r *round) query(ctx context.Context, s *source, q sources.Query) (*sources.Result, error) {
	key := askedQuery{s, q}
	r.mu.Lock()
	a, asked := r.answers[key]
	if !asked {
		a = &answer{done: make(chan struct{})}
		r.answers[key] = a
	}
	r.mu.Unlock()
	if !asked {
		defer close(a.done)
		a.err = guarded(func() (err error) {
			a.result, err = s.queries.Query(ctx, q, r.at)
			return err
		})
		return a.result, a.err
	}
	select {
	case <-a.done:
		return a.result, a.err
	case <-ctx.Done():
		return nil, sources.Errorf(sources.Unavailable, "no answer in time: %w", context.Cause(ctx))
	}
}
