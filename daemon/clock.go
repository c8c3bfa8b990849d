package daemon

import "time"

// maxClockDrift is how far the wall clock and the steady one drift apart without having been set.
const maxClockDrift = 2 * time.Second

// clock is one moment on two clocks: the one on the wall, which somebody may set, and the steady
// one. The steady clock stands still while the machine sleeps, so that sleep looks like a clock
// that was set forward; then windows last so much longer.
type clock struct{ wall, steady time.Time }

func clockAt(at time.Time) clock { return clock{wall: at.Round(0), steady: at} }

// jumped is by how much the wall clock was set between c and a later moment; 0 if it was not. The
// zero clock knows nothing of that.
func (c clock) jumped(to clock) time.Duration {
	if c.wall.IsZero() {
		return 0
	}
	if d := to.wall.Sub(c.wall) - to.steady.Sub(c.steady); d.Abs() > maxClockDrift {
		return d
	}
	return 0
}

// followClock moves what the workload remembers along with a wall clock that was set.
func (e *evaluation) followClock() {
	h, now := &e.workload.history, clockAt(e.at)
	d := h.clock.jumped(now)
	h.clock = now
	if d == 0 {
		return
	}
	e.workload.log.Debug("the clock was set", "by", d)
	h.state = h.state.Shift(d)
	if !h.success.IsZero() {
		h.success = h.success.Add(d)
	}
	for i := range h.own {
		if c := &h.own[i]; !c.Since.IsZero() {
			c.Since = c.Since.Add(d)
		}
	}
}
