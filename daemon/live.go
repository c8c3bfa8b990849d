package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hpad/hpad/targets"
)

// Live asks every target for its status and every metric for its samples once, and changes
// nothing. It returns what did not work, a line each, in the order of the configuration.
func (s *Set) Live(ctx context.Context) []string {
	found := make([][]string, len(s.bindings))
	r := newRound(time.Now())
	metrics := newDaemonMetrics()
	slots := make(chan struct{}, maxTargetCalls)
	var wg sync.WaitGroup
	for i, b := range s.bindings {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			found[i] = s.liveBinding(ctx, &evaluation{bound: b, round: r, at: r.at, metrics: metrics})
		})
	}
	wg.Wait()
	var lines []string
	for i, messages := range found {
		for _, m := range messages {
			lines = append(lines, fmt.Sprintf("workload %q: %s", s.bindings[i].config.Name, m))
		}
	}
	return lines
}

func (s *Set) liveBinding(ctx context.Context, e *evaluation) []string {
	within, cancel := context.WithTimeout(ctx, s.deadline())
	defer cancel()
	b := e.bound
	if _, runByHpad := b.target.Target.(targets.Activator); !runByHpad {
		e.readTarget(within)
	}
	var messages []string
	if err := e.observation.TargetErr; err != nil {
		messages = append(messages, fmt.Sprintf("target: %v", err))
	}
	for i := range b.feeds {
		if !b.feeds[i].byQuery() && len(e.status.Instances) == 0 {
			continue
		}
		err := guarded(func() error {
			reading, _ := e.read(within, &b.feeds[i])
			return reading.Err
		})
		if err != nil {
			messages = append(messages, fmt.Sprintf("metric[%d]: %v", i, err))
		}
	}
	return messages
}
