package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// scope collects the problems of one named table. One mistake is told once: a key that has a
// problem already gets no second one from a later check, nor does a table for what is wrong below.
type scope struct {
	position
	problems *Problems
	// told are the paths of keys with problems, and of the absent ones that unknown keys were meant
	// to be.
	told []string
	// undecoded are the paths of values of the wrong type: nothing is known of what is below.
	undecoded []string
}

// add locates option errors about the table at key.
func (s *scope) add(key string, err error) {
	for _, e := range options.Split(err) {
		below, message := options.Key(e)
		below = options.JoinKey(key, below)
		name, meant := options.Unknown(e)
		if better := s.unknownKey(key, name); name != "" && better != "" {
			message, meant = better, ""
		}
		s.tell(below, message)
		s.undecoded = append(s.undecoded, below)
		if meant != "" && !s.has(options.JoinKey(key, meant)) {
			s.told = append(s.told, options.JoinKey(key, meant))
		}
	}
}

func (s *scope) failf(key, format string, args ...any) {
	s.tell(key, fmt.Sprintf(format, args...))
}

func (s *scope) tell(key, message string) {
	isTold := func(told string) bool { return told == key || key != "" && within(told, key) }
	isUnknown := func(path string) bool { return within(key, path) }
	if slices.ContainsFunc(s.told, isTold) || slices.ContainsFunc(s.undecoded, isUnknown) {
		return
	}
	s.told = append(s.told, key)
	*s.problems = append(*s.problems, s.problem(key, message))
}

// within tells whether a key path is below another.
func within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}
