package daemon

import (
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bolt "go.etcd.io/bbolt"
)

const (
	// commitEvery is how long a state waits to be committed together with others.
	commitEvery = 2 * time.Second
	// maxCommitWait is how long an evaluation waits for a commit: a disk that hangs must not keep
	// workloads from being scaled.
	maxCommitWait = 2 * time.Second
	// forgetAfter is how long the state of a workload is kept that is no longer configured.
	forgetAfter = 7 * 24 * time.Hour
)

// store keeps the states of workloads on disk. One goroutine commits what is dirty: together, soon,
// and at once if somebody waits. A nil store keeps nothing. Failures to write never are the
// callers': they are counted and logged, and what could not be written is written with what
// follows.
type store struct {
	path    string
	log     *slog.Logger
	metrics *stateMetrics
	// complete tells that the hpad before stopped in order: the file holds all it knew.
	complete bool

	// replaced is true once a file turned out to be damaged while it was in use.
	replaced bool

	dirtied, urgent, stop chan struct{}
	done                  chan struct{}

	mu sync.Mutex
	// db is changed by run alone. It is nil while a damaged file could not be replaced yet.
	db *bolt.DB
	// dirty are states that are not committed yet.
	dirty map[string]saved
	// waiting are closed after the next commit, successful or not.
	waiting []chan struct{}
	// configured are the names of the workloads there are, if they changed since the last commit.
	configured map[string]bool
	failing    bool
}

// stateMetrics measure the store.
type stateMetrics struct {
	duration prometheus.Histogram
	failures prometheus.Counter
	damaged  prometheus.Counter
}

func newStateMetrics() *stateMetrics {
	return &stateMetrics{
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "hpad_state_commit_duration_seconds",
			Help:    "How long commits of workload states to disk took, whether they failed or not.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hpad_state_write_failures_total",
			Help: "Commits of workload states to disk that failed, or that took too long to be waited for.",
		}),
		damaged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hpad_state_damaged_total",
			Help: "Files of workload states that were damaged and put aside.",
		}),
	}
}

func (m *stateMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.duration, m.failures, m.damaged}
}

// signal leaves a token for whoever listens next.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// note commits the state of the workload soon.
func (s *store) note(name string, state saved) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.dirty[name] = state
	s.mu.Unlock()
	signal(s.dirtied)
}

// commit commits the state of the workload, with what else is dirty, and waits for it.
func (s *store) commit(name string, state saved) {
	if s == nil {
		return
	}
	committed := make(chan struct{})
	s.mu.Lock()
	s.dirty[name] = state
	s.waiting = append(s.waiting, committed)
	s.mu.Unlock()
	signal(s.urgent)
	timer := time.NewTimer(maxCommitWait)
	defer timer.Stop()
	select {
	case <-committed:
	case <-timer.C:
		s.failed(errSlow)
	}
}

// forgetOthers forgets in time what is kept of workloads that are not among these.
func (s *store) forgetOthers(workloads map[string]*workload) {
	if s == nil {
		return
	}
	configured := make(map[string]bool, len(workloads))
	for name := range workloads {
		configured[name] = true
	}
	s.mu.Lock()
	s.configured = configured
	s.mu.Unlock()
	signal(s.dirtied)
}

// load returns what is kept of the workload; false if nothing is.
func (s *store) load(name string) (state saved, found bool) {
	if s == nil {
		return saved{}, false
	}
	s.mu.Lock()
	state, found = s.dirty[name]
	db := s.db
	s.mu.Unlock()
	if found || db == nil {
		return state, found
	}
	err := withoutFaults(func() error {
		return db.View(func(tx *bolt.Tx) (err error) {
			workloads := tx.Bucket(bucketWorkloads)
			if workloads == nil {
				return nil
			}
			record := workloads.Get([]byte(name))
			if found = record != nil; found {
				state, err = decode(record)
			}
			return err
		})
	})
	if err != nil {
		s.log.Warn("cannot read the state of a workload; it starts without memory", "workload", name, "err", err)
		return saved{}, false
	}
	return state, found
}

// close commits what is left. Whatever comes later is lost.
func (s *store) close() error {
	close(s.stop)
	<-s.done
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// run commits what is dirty. It sleeps while nothing is.
func (s *store) run() {
	defer close(s.done)
	for {
		select {
		case <-s.urgent:
		case <-s.dirtied:
			s.gather()
		case <-s.stop:
			s.flush(true)
			return
		}
		s.flush(false)
	}
}

// gather waits for more states, until somebody cannot wait any longer.
func (s *store) gather() {
	timer := time.NewTimer(commitEvery)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.urgent:
	case <-s.stop:
	}
}

// batch is what one commit is about.
type batch struct {
	states     map[string]saved
	waiting    []chan struct{}
	configured map[string]bool
	// last marks the file as complete.
	last bool
}

func (s *store) take(last bool) batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := batch{states: s.dirty, waiting: s.waiting, configured: s.configured, last: last}
	s.dirty, s.waiting, s.configured = map[string]saved{}, nil, nil
	return b
}

// giveBack makes dirty again what could not be committed, unless it was superseded meanwhile.
func (s *store) giveBack(b batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, state := range b.states {
		if _, superseded := s.dirty[name]; !superseded {
			s.dirty[name] = state
		}
	}
	if s.configured == nil {
		s.configured = b.configured
	}
	signal(s.dirtied)
}

// flush commits everything that is dirty.
func (s *store) flush(last bool) {
	b := s.take(last)
	if len(b.states) == 0 && b.configured == nil && !last {
		return
	}
	began := time.Now()
	err := s.write(b)
	s.metrics.duration.Observe(time.Since(began).Seconds())
	if err != nil {
		s.failed(err)
		s.giveBack(b)
	} else {
		s.worked()
	}
	for _, w := range b.waiting {
		close(w)
	}
}
