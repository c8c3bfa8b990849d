package daemon

import (
	"strings"
	"testing"
	"time"
)

// setClock has the next evaluation find that the wall clock was set by so much since the last one.
// The clock of a test cannot be set, so what the workload remembers is.
func (w *workload) setClock(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &w.history
	h.clock.wall = h.clock.wall.Add(-by)
	h.state = h.state.Shift(-by)
}

func TestClockThatWasSetOpensAndClosesNoWindow(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		inBubble(t, func(t *testing.T, w *world) {
			fake := w.targets.Add("web", 8)
			w.source.Value("q", 80)
			w.write(queueWorkload("web", "q"))
			w.start()
			pass(time.Minute)
			w.source.Value("q", 20)
			pass(time.Minute)
			w.daemon.find("web").setClock(by)
			pass(3 * time.Minute)
			if n := fake.Replicas(); n != 8 {
				t.Errorf("set by %s: %d replicas before the window is over, want 8", by, n)
			}
			pass(90 * time.Second)
			if n := fake.Replicas(); n != 2 {
				t.Errorf("set by %s: %d replicas after the window, want 2", by, n)
			}
			if shown := w.workload("web"); time.Since(shown.LastScale).Abs() > time.Minute {
				t.Errorf("set by %s: last scaled at %s, now is %s", by, shown.LastScale, time.Now())
			}
		})
	}
}

func TestSmallDriftOfTheClockIsNoJump(t *testing.T) {
	before := clockAt(time.Now())
	for by, want := range map[time.Duration]time.Duration{
		0: 0, 2 * time.Second: 0, -2 * time.Second: 0, 3 * time.Second: 3 * time.Second, -time.Hour: -time.Hour,
	} {
		later := clock{wall: before.wall.Add(15*time.Second + by), steady: before.steady.Add(15 * time.Second)}
		if got := before.jumped(later); got != want {
			t.Errorf("jumped by %s: %s, want %s", by, got, want)
		}
	}
	if got := (clock{}).jumped(before); got != 0 {
		t.Errorf("the first evaluation finds a jump of %s", got)
	}
}

func TestClockThatWasSetIsInTheDebugLog(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.level = -4
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Minute)
		w.daemon.find("web").setClock(time.Hour)
		pass(time.Minute)
		if n := strings.Count(w.log.take(), `msg="the clock was set" workload=web by=1h0m0s`); n != 1 {
			t.Errorf("logged %d times, want once", n)
		}
	})
}
