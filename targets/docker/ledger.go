package docker

import (
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// ledger is what is remembered of a target; the rest is read from the engine each time. All of it
// may be lost: a new ledger takes the count of what runs for what is wanted.
type ledger struct {
	// writing is held while containers are created.
	writing chan struct{}

	mu sync.Mutex
	// acts is true once a change was asked for. Before, as in a check or a dry run, nothing is
	// repaired either.
	acts bool
	// kept are the slots that the driver keeps filled, with the time since when one is seen empty;
	// zero while it is not. They make up for clones that others remove, such as a plain
	// "compose up" does.
	kept map[string]time.Time
	// leaving are containers that are being stopped, rising are stopped ones that are being started.
	leaving, rising map[string]mark
	// readiness is by container.
	readiness map[string]readiness
	// failure is the last start, or stop, that failed; growth is held until then.
	failure   string
	heldUntil time.Time
	repairing bool
}

// mark says that something is done with a container. It holds for what was read before the end.
type mark struct{ ended time.Time }

func (m mark) holds(begun time.Time) bool { return m.ended.IsZero() || begun.Before(m.ended) }

// readiness is what was last seen of a container, and since when it is so.
type readiness struct {
	started time.Time
	state   algorithm.Readiness
	since   time.Time
}

const (
	// emptyFor is how long a slot is seen empty, at least, before it is filled.
	emptyFor = 10 * time.Second
	// removalMargin is what the removal of a container takes longer than its stop.
	removalMargin = 5 * time.Second
	// holdAfterFailure is how long growth waits after a clone that could not be started.
	holdAfterFailure = time.Minute
	// forgetMarks is longer than any reading takes.
	forgetMarks = 10 * time.Minute
)

func newLedger() *ledger {
	return &ledger{
		writing: make(chan struct{}, 1), kept: map[string]time.Time{},
		leaving: map[string]mark{}, rising: map[string]mark{}, readiness: map[string]readiness{},
	}
}

// scene is what a reading shows, sorted by what is known of each container.
type scene struct {
	members  []*member
	template *member
	live     []*member // what is to stay: it runs, or is being started
	going    []*member // being stopped
	stopped  []*member // of others
	rests    []*member // clones that have ended, or were never started
	empty    []string  // kept slots without a container
	overdue  []string  // those that have been empty for long
	wanted   int
	now      time.Time
}

// sort reads the members as of a reading that began at the given time, and updates what is kept.
func (l *ledger) sort(members []*member, begun, now time.Time) *scene {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &scene{members: members, template: templateOf(members), now: now}
	for _, m := range members {
		l.place(s, m, begun)
	}
	l.keep(s)
	for _, m := range s.live {
		l.noteReadiness(m, now)
	}
	l.forget(members, now)
	return s
}

func (l *ledger) place(s *scene, m *member, begun time.Time) {
	_, kept := l.kept[m.slot]
	leaving, isLeaving := l.leaving[m.id]
	rising, isRising := l.rising[m.id]
	switch {
	case m.removed():
	case isLeaving && leaving.holds(begun):
		if m.runs() {
			s.going = append(s.going, m)
		}
	case m.runs(), m.ours && m.fresh() && kept, isRising && rising.holds(begun):
		s.live = append(s.live, m)
	case m.ours:
		s.rests = append(s.rests, m)
	default:
		s.stopped = append(s.stopped, m)
	}
}

// keep settles which slots are kept: those of clones that live, and those that nobody but hpad has
// made empty. A clone that has ended was stopped, or has failed; what Compose has made anew, under
// our number, is Compose's. The wanted count is that of the slots of both.
func (l *ledger) keep(s *scene) {
	for _, m := range s.rests {
		delete(l.kept, m.slot)
	}
	ours, theirs := map[string]bool{}, map[string]bool{}
	for _, m := range s.live {
		if m.ours {
			ours[m.slot] = true
		} else {
			theirs[m.slot] = true
		}
	}
	for slot := range theirs {
		delete(l.kept, slot)
		delete(ours, slot)
	}
	for slot := range ours {
		l.kept[slot] = time.Time{}
	}
	for slot, since := range l.kept {
		if ours[slot] {
			continue
		}
		if since.IsZero() {
			since = s.now
			l.kept[slot] = since
		}
		s.empty = append(s.empty, slot)
		if s.now.Sub(since) >= s.patience() {
			s.overdue = append(s.overdue, slot)
		}
	}
	s.wanted = len(theirs) + len(l.kept)
}

// patience is how long a slot may be empty. A project that is taken down loses its clones before
// its template, which may take its time to stop, and must not be cloned meanwhile.
func (s *scene) patience() time.Duration {
	if s.template == nil {
		return emptyFor
	}
	stop := s.template.stopTimeout()
	if stop < 0 || stop > longestStop {
		stop = longestStop
	}
	return max(emptyFor, stop+removalMargin)
}

// noteReadiness remembers since when a container is ready or not. At first sight of one that is
// not, its check's log says since when.
func (l *ledger) noteReadiness(m *member, now time.Time) {
	state, known := readyNow(m), l.readiness[m.id]
	if known.started.Equal(m.started()) && known.state == state && !known.since.IsZero() {
		return
	}
	since := now
	if known.since.IsZero() || !known.started.Equal(m.started()) {
		since = firstSeen(m)
	}
	l.readiness[m.id] = readiness{started: m.started(), state: state, since: since}
}

// firstSeen is the time since when a container that was not seen before is as it is.
func firstSeen(m *member) time.Time {
	h := m.seen.State.Health
	if h == nil || h.Status != "unhealthy" || len(h.Log) == 0 {
		return m.started()
	}
	first := max(0, len(h.Log)-max(1, h.FailingStreak))
	return h.Log[first].Start
}

func (l *ledger) forget(members []*member, now time.Time) {
	present := map[string]bool{}
	for _, m := range members {
		present[m.id] = true
	}
	for id := range l.readiness {
		if !present[id] {
			delete(l.readiness, id)
		}
	}
	for _, marks := range []map[string]mark{l.leaving, l.rising} {
		for id, m := range marks {
			if !m.ended.IsZero() && now.Sub(m.ended) > forgetMarks {
				delete(marks, id)
			}
		}
	}
}

// lock waits until nobody else creates containers for the target, and returns what ends that.
func (l *ledger) lock(done <-chan struct{}) (unlock func(), ok bool) {
	select {
	case l.writing <- struct{}{}:
		return func() { <-l.writing }, true
	case <-done:
		return nil, false
	}
}

// failed remembers what went wrong, for the next Status. What could not be started holds growth.
func (l *ledger) failed(message string, now time.Time, holds bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure = message
	l.heldUntil = now
	if holds {
		l.heldUntil = now.Add(holdAfterFailure)
	}
}

func (l *ledger) drop(slot string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.kept, slot)
}

func (l *ledger) ended(marks map[string]mark, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	marks[id] = mark{ended: time.Now()}
}

// lastFailure returns what went wrong lately.
func (l *ledger) lastFailure(now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.heldUntil) > holdAfterFailure {
		l.failure = ""
	}
	return l.failure
}

// clear forgets what was kept of a target that is gone.
func (l *ledger) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.kept)
}
