package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// Drivers are all drivers a configuration can name: the built-in ones and those of plugins.
type Drivers struct {
	Sources []sources.Driver
	Targets []targets.Driver
}

// Environment is what Build gives to drivers.
type Environment struct {
	Log *slog.Logger
}

// Set is everything a configuration names, opened and bound to each other.
type Set struct {
	cfg         *config.Config
	sources     map[string]*source
	connections map[string]*connection
	// bindings are in the order of the configuration, byName are the same.
	bindings []*binding
	byName   map[string]*binding
}

// Build opens everything the configuration names, offline: nothing is asked, nothing is started.
// Either all of it is open, or there are problems and nothing is.
func Build(cfg *config.Config, drivers Drivers, env Environment) (*Set, config.Problems) {
	return build(cfg, drivers, env, &Set{cfg: &config.Config{}}, newCallMetrics())
}

// Merge adds the problems of Build to those of config.Load. What both found wrong with one key is
// kept once, in the words of the latter.
func Merge(loading, building config.Problems) config.Problems {
	type place struct {
		file string
		line int
		key  string
	}
	known := map[place]bool{}
	for _, p := range loading {
		known[place{p.File, p.Line, p.Key}] = true
	}
	merged := slices.Clip(loading)
	for _, p := range building {
		if !known[place{p.File, p.Line, p.Key}] {
			merged = append(merged, p)
		}
	}
	merged.Sort()
	return merged
}

// build is Build on top of an older Set: what did not change is taken over from it instead of
// being opened again. The older Set stays as it is.
func build(cfg *config.Config, drivers Drivers, env Environment, old *Set, calls *callMetrics) (*Set, config.Problems) {
	b := &builder{
		drivers: drivers, env: env, old: old, calls: calls,
		set: &Set{
			cfg: cfg, sources: map[string]*source{}, connections: map[string]*connection{},
			byName: map[string]*binding{},
		},
	}
	for i := range cfg.Sources {
		b.openSource(&cfg.Sources[i])
	}
	for i := range cfg.Targets {
		b.openConnection(&cfg.Targets[i])
	}
	for i := range cfg.Workloads {
		if cfg.Workloads[i].Via == "" {
			// Its target could not be read, which was reported already.
			continue
		}
		b.bind(&cfg.Workloads[i])
	}
	b.refuseDuplicates()
	b.checkWeb()
	if len(b.problems) > 0 {
		b.problems.Sort()
		// The problems are what the caller can act upon; a failed release adds nothing to them.
		_ = b.set.closeExcept(old)
		return nil, b.problems
	}
	return b.set, nil
}

type builder struct {
	drivers  Drivers
	env      Environment
	old      *Set
	calls    *callMetrics
	set      *Set
	problems config.Problems
}

func (b *builder) openSource(table *config.Driver) {
	if s := b.old.sources[table.Name]; s != nil && sameDriver(s.table, table) && b.samePeriod() {
		b.set.sources[table.Name] = s
		return
	}
	env := sources.Environment{Log: b.env.Log.With("source", table.Name)}
	opened, err := sources.Registry(b.drivers.Sources).Open(table.Driver, env, table.Options)
	if err != nil {
		b.refuse(table.Options, err)
		return
	}
	b.set.sources[table.Name] = newSource(table.Name, table, opened, b.set.deadline(), b.calls)
}

func (b *builder) openConnection(table *config.Driver) {
	if c := b.old.connections[table.Name]; c != nil && sameDriver(c.table, table) && b.samePeriod() {
		b.set.connections[table.Name] = c
		return
	}
	env := targets.Environment{Log: b.env.Log.With("target", table.Name)}
	opened, err := targets.Registry(b.drivers.Targets).Open(table.Driver, env, table.Options)
	if err != nil {
		b.refuse(table.Options, err)
		return
	}
	driver, _ := targets.Registry(b.drivers.Targets).Find(table.Driver)
	c := newConnection(table, driver, opened, b.calls)
	b.set.connections[table.Name] = c
	b.openResources(c)
}

// openResources opens the source that belongs to the driver of the connection, if there is one.
func (b *builder) openResources(c *connection) {
	if c.driver.Resource.Driver == "" {
		return
	}
	driver, known := sources.Registry(b.drivers.Sources).Find(c.driver.Resource.Driver)
	if !known {
		return
	}
	env := sources.Environment{Log: b.env.Log.With("source", c.table.Name)}
	opened, err := driver.Open(env, c.table.Options.Only(c.driver.Resource.Keys...))
	if err != nil {
		b.refuse(c.table.Options, err)
		return
	}
	c.resources = newSource(c.table.Name, nil, opened, b.set.deadline(), b.calls)
}

func (b *builder) bind(w *config.Workload) {
	connection := b.set.connections[w.Via]
	if connection == nil {
		// Its table has a problem of its own, reported already.
		return
	}
	bound := &binding{config: w, connection: connection, target: b.old.reusableTarget(w, connection)}
	if bound.target == nil {
		raw, err := connection.raw.Bind(w.Target)
		if err != nil {
			b.refuse(w.Target, err)
			return
		}
		bound.target = newTarget(raw)
	}
	bound.connect()
	err := errors.Join(bound.feed(b.set.sources), bound.checkRequests(), bound.checkStart())
	b.problems = append(b.problems, w.Problems(err)...)
	if same := b.old.binding(w.Name); same != nil && same.equal(bound) {
		bound = same
	}
	b.set.bindings = append(b.set.bindings, bound)
	b.set.byName[w.Name] = bound
}

// samePeriod tells whether the sync period stays, from which the deadlines of calls follow.
func (b *builder) samePeriod() bool {
	return b.old.cfg.Daemon.SyncPeriod == b.set.cfg.Daemon.SyncPeriod
}

func (b *builder) refuse(table *config.Table, err error) {
	b.problems = append(b.problems, table.Problems(err)...)
}

// Close releases everything: targets first, then connections and sources.
func (s *Set) Close() error { return s.closeExcept(&Set{}) }

// closeExcept releases everything that kept does not hold, in the reverse order of opening.
func (s *Set) closeExcept(kept *Set) error {
	held := kept.holds()
	errs := s.closeTargets(held)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(s.connections))) {
		if c := s.connections[name]; !held[c] {
			errs = append(errs, named(c.close(), "target", name))
		}
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(s.sources))) {
		if src := s.sources[name]; !held[src] {
			errs = append(errs, named(src.raw.Close(), "source", name))
		}
	}
	return errors.Join(errs...)
}

// closeTargets closes all targets at once, for those that hpad itself runs may take their time.
func (s *Set) closeTargets(held map[any]bool) []error {
	errs := make([]error, len(s.bindings))
	var wg sync.WaitGroup
	for i, b := range s.bindings {
		if held[b.target] {
			continue
		}
		wg.Go(func() { errs[i] = named(guarded(b.target.Close), "target of workload", b.config.Name) })
	}
	wg.Wait()
	return errs
}

func (s *Set) holds() map[any]bool {
	held := map[any]bool{}
	for _, b := range s.bindings {
		held[b.target] = true
	}
	for _, c := range s.connections {
		held[c] = true
	}
	for _, src := range s.sources {
		held[src] = true
	}
	return held
}

func named(err error, what, name string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot close %s %q: %w", what, name, err)
}

// deadline is how long the Set's evaluations wait for an answer.
func (s *Set) deadline() time.Duration {
	return min(s.cfg.Daemon.SyncPeriod, maxDeadline)
}

func (s *Set) binding(workload string) *binding {
	return s.byName[workload]
}

// reusableTarget returns the target of the workload of that name if it has the same table of the
// same connection; nil otherwise.
func (s *Set) reusableTarget(w *config.Workload, c *connection) *boundTarget {
	b := s.binding(w.Name)
	if b == nil || b.connection != c || b.config.Target.Fingerprint() != w.Target.Fingerprint() {
		return nil
	}
	return b.target
}

// sameDriver tells whether two tables say the same.
func sameDriver(a, b *config.Driver) bool {
	return a.Driver == b.Driver && a.Options.Fingerprint() == b.Options.Fingerprint()
}
