package process

import (
	"time"

	"github.com/hpad/hpad/sources/internal/measured"
	"github.com/hpad/hpad/sources/internal/rate"
)

// instance is what is remembered of an instance from one evaluation to the next.
type instance struct {
	// start tells its main process from another one with the same number.
	start time.Duration
	asked time.Time

	cpu, memory measured.Once

	counter rate.Counter
	ledger  ledger
}

// measure takes the CPU usage since the pass before.
func (i *instance) measure(t *table, pid int, cpus int) rate.Usage {
	members := t.members(pid)
	now := make(map[int]spent, len(members))
	for _, member := range members {
		stat := t.processes[member]
		now[member] = spent{start: stat.Start, self: stat.Self, children: stat.Children}
	}
	taken := t.taken
	if t.precise {
		taken = precise(now, pid, taken)
	}
	used := i.ledger.add(now)
	started := t.taken.Add(i.start - t.uptime)
	return i.counter.Add(rate.Reading{Used: used, Taken: taken}, started, cpus)
}

// precise replaces the main process's own time, which the table has in steps of a hundredth of a
// second, and returns the time of the reading.
func precise(now map[int]spent, pid int, taken time.Time) time.Time {
	if used, ok := clock(pid); ok {
		main := now[pid]
		main.self = used
		now[pid] = main
		return time.Now()
	}
	return taken
}

// spent is the CPU time of a process and of its children that ended.
type spent struct{ start, self, children time.Duration }

// ledger makes one counter, which never goes back, of the counters of processes that come and go.
//
// When a process ends and its parent waits for it, its time moves to the parent's children, where
// it must not count again. A parent that ignores its children's end does not get their time: then
// nothing of it may be taken away from what the others use.
type ledger struct {
	before map[int]spent
	total  time.Duration
	// owed is the time of processes that were gone at the last pass and had not moved to their
	// parents, which may have been looked at a moment too early.
	owed time.Duration
}

// add takes the times of all processes there are and returns the time used since the first of
// them began.
func (l *ledger) add(now map[int]spent) time.Duration {
	var self, waited time.Duration
	for pid, s := range now {
		b, ok := l.before[pid]
		if !ok || b.start != s.start {
			b = spent{}
		}
		self += max(0, s.self-b.self)
		waited += max(0, s.children-b.children)
	}
	gone := l.gone(now)
	l.total += self + max(0, waited-gone-l.owed)
	l.owed = max(0, gone-waited)
	l.before = now
	return l.total
}

// gone is the time of all processes that were there at the last pass and are not now.
func (l *ledger) gone(now map[int]spent) time.Duration {
	var sum time.Duration
	for pid, b := range l.before {
		if s, ok := now[pid]; !ok || s.start != b.start {
			sum += b.self + b.children
		}
	}
	return sum
}
