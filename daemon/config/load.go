package config

import (
	"github.com/hpad/hpad/internal/options"
)

// Known are the names of the drivers there are. If a list is nil, any name is taken for one.
type Known struct {
	Sources, Targets []string
}

// Load reads the configuration: the main file at path and the files it includes. The problems are
// all there are, sorted; files are named relative to path as given. The Config is what could be
// made in spite of them, so that the drivers can be asked for theirs; it is never nil. What it names
// and does not hold (a source without driver, an unknown target) is among the problems; a workload
// whose target could not be read has an empty Via.
func Load(path string, known Known) (*Config, Problems) {
	l := loader{
		config:   &Config{Path: path},
		sources:  family{kind: "source", known: known.Sources},
		targets:  family{kind: "target", known: known.Targets},
		named:    map[string]position{},
		targeted: map[string]int{},
	}
	l.main(path)
	l.config.Sources, l.config.Targets = l.sources.drivers, l.targets.drivers
	l.problems.Sort()
	return l.config, l.problems
}

type loader struct {
	config   *Config
	problems Problems
	sources  family
	targets  family
	// named are the places of the workloads by name, targeted their indexes by the fingerprint of
	// the target.
	named    map[string]position
	targeted map[string]int
}

func (l *loader) scope(p position) *scope {
	return &scope{position: p, problems: &l.problems}
}

func (l *loader) main(path string) {
	l.config.Files = append(l.config.Files, path)
	l.config.Daemon = l.daemon(l.scope(position{lines: &lines{all: 1}, file: path}), nil)
	d, problems := readDocument(path)
	if d == nil {
		l.problems = problems
		return
	}
	var keys mainKeys
	s := l.scope(d.position)
	s.add("", options.Decode(d.dir, d.values, &keys))
	l.config.Daemon = l.daemon(s, keys.Daemon)
	l.sources.read(l, d.position, keys.Sources)
	l.targets.read(l, d.position, keys.Targets)
	l.workloadTables(d.position, keys.Workload)
	for _, file := range l.included(s, keys.Include) {
		l.include(file)
	}
}

// include reads a file that may hold workloads only.
func (l *loader) include(file string) {
	l.config.Files = append(l.config.Files, file)
	d, problems := readDocument(file)
	if d == nil {
		l.problems = append(l.problems, problems...)
		return
	}
	s := l.scope(d.position)
	for _, key := range []string{"include", "daemon", "sources", "targets"} {
		if _, ok := d.values[key]; ok {
			s.failf(key, "is allowed only in the main file, %q", l.config.Path)
			delete(d.values, key)
		}
	}
	var keys includedKeys
	s.add("", options.Decode(d.dir, d.values, &keys))
	l.workloadTables(d.position, keys.Workload)
}
