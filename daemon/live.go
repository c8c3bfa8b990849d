package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// betweenReadings lies between the two readings that usage over time takes in a live check. Sources
// measure over no less than a second.
const betweenReadings = 2 * time.Second

// Live asks every target for its status and every metric for its samples, and changes nothing. It
// returns what did not work, a line each, in the order of the configuration. Resources without a
// sample are read a second time: usage over time takes two readings.
func (s *Set) Live(ctx context.Context) []string {
	r := newRound(time.Now())
	metrics := newDaemonMetrics()
	looks := make([]*liveLook, len(s.bindings))
	for i, b := range s.bindings {
		looks[i] = &liveLook{evaluation: &evaluation{bound: b, round: r, at: r.at, metrics: metrics}}
	}
	s.look(ctx, looks, (*liveLook).first)
	if slices.ContainsFunc(looks, (*liveLook).isUnmeasured) && waited(ctx, betweenReadings) {
		at := time.Now()
		s.look(ctx, looks, func(l *liveLook, ctx context.Context) { l.second(ctx, at) })
	}
	var lines []string
	for i, l := range looks {
		for _, m := range l.messages() {
			lines = append(lines, fmt.Sprintf("workload %q: %s", s.bindings[i].config.Name, m))
		}
	}
	return lines
}

// look has every workload looked at, each within the deadline of an evaluation.
func (s *Set) look(ctx context.Context, looks []*liveLook, do func(*liveLook, context.Context)) {
	slots := make(chan struct{}, maxTargetCalls)
	var wg sync.WaitGroup
	for _, l := range looks {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			within, cancel := context.WithTimeout(ctx, s.deadline())
			defer cancel()
			do(l, within)
		})
	}
	wg.Wait()
}

// waited waits, and tells whether ctx went on for so long.
func waited(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// liveLook is what a live check finds out about one workload.
type liveLook struct {
	*evaluation
	errs []error // of each metric
}

func (l *liveLook) first(ctx context.Context) {
	b := l.bound
	if _, runByHpad := b.target.Target.(targets.Activator); !runByHpad {
		l.readTarget(ctx)
	}
	l.errs = make([]error, len(b.feeds))
	for i := range b.feeds {
		if b.feeds[i].byQuery() || len(l.status.Instances) > 0 {
			l.measure(ctx, i)
		}
	}
}

// withoutRequests says how many instances, read from the target, request nothing of what the metric
// is a share of; empty if none.
func (l *liveLook) withoutRequests(m *algorithm.Metric) string {
	if !ofRequests(m) {
		return ""
	}
	without := 0
	for i := range l.observation.Instances {
		if _, ok := m.Request(&l.observation.Instances[i]); !ok {
			without++
		}
	}
	if without == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d instances request nothing of %q: set requests in the target or in the workload",
		without, len(l.observation.Instances), m.Name)
}

// second reads once more what the first reading found no sample of.
func (l *liveLook) second(ctx context.Context, at time.Time) {
	l.at = at
	for i := range l.errs {
		if l.unmeasured(i) {
			l.measure(ctx, i)
		}
	}
}

func (l *liveLook) measure(ctx context.Context, metric int) {
	l.errs[metric] = guarded(func() error {
		reading, _ := l.read(ctx, &l.bound.feeds[metric])
		return reading.Err
	})
}

func (l *liveLook) unmeasured(metric int) bool {
	return !l.bound.feeds[metric].byQuery() && sources.KindOf(l.errs[metric]) == sources.NoData
}

func (l *liveLook) isUnmeasured() bool {
	for i := range l.errs {
		if l.unmeasured(i) {
			return true
		}
	}
	return false
}

func (l *liveLook) messages() []string {
	var all []string
	if err := l.observation.TargetErr; err != nil {
		all = append(all, fmt.Sprintf("target: %v", err))
	}
	for i, err := range l.errs {
		if err != nil {
			all = append(all, fmt.Sprintf("metric[%d]: %v", i, err))
		}
		if text := l.withoutRequests(&l.bound.config.Spec.Metrics[i]); text != "" {
			all = append(all, fmt.Sprintf("metric[%d]: %s", i, text))
		}
	}
	return all
}
