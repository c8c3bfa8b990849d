package config

import (
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// position is where a table begins, and how messages name it.
type position struct {
	file string
	// dir is the absolute folder of the file.
	dir   string
	lines *lines
	// path is the key path of the table in its file ("workload[0].target").
	path string
	// where and prefix are Problem.Where and the begin of Problem.Key.
	where, prefix string
}

// below is the position of a table within this one.
func (p position) below(key string) position {
	p.path = options.JoinKey(p.path, key)
	p.prefix = options.JoinKey(p.prefix, key)
	return p
}

// named is this position as the begin of a table with a name of its own.
func (p position) named(where string) position {
	p.where, p.prefix = where, ""
	return p
}

func (p position) line(key string) int {
	return p.lines.of(options.JoinKey(p.path, key))
}

// has tells whether the document has the key.
func (p position) has(key string) bool {
	_, ok := p.lines.at[options.JoinKey(p.path, key)]
	return ok
}

func (p position) problem(key, message string) Problem {
	return Problem{
		File:    p.file,
		Line:    p.line(key),
		Where:   p.where,
		Key:     options.JoinKey(p.prefix, key),
		Message: message,
	}
}

// problems locates option errors (package options).
func (p position) problems(err error) Problems {
	var found Problems
	for _, e := range options.Split(err) {
		key, message := options.Key(e)
		found = append(found, p.problem(key, message))
	}
	return found
}

// lines knows on which line of a document each key is, by its path.
type lines struct {
	at map[string]int
	// all is the line of whatever is not found.
	all int
}

// of returns the line of a path or, if the document does not have it, that of the nearest table
// above.
func (l *lines) of(path string) int {
	for path != "" {
		if line, ok := l.at[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexByte(path, '.'), strings.LastIndexByte(path, '['), 0)]
	}
	return l.all
}

// indexLines walks a valid TOML document once. In a document that is not valid it stops where it
// is lost.
func indexLines(text string) *lines {
	w := walker{text: strings.TrimPrefix(text, "\ufeff"), line: 1, arrays: map[string]int{}}
	w.lines = &lines{at: map[string]int{}, all: 1}
	w.document()
	return w.lines
}
