package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	File string
	// Line counts from 1; 0 only if the file cannot be read.
	Line int
	// Where names the table for people: `workload "web"`, `target "swarm"`; empty at the top.
	Where string
	// Key is the path below Where ("metric[1].average_value"); empty for the table itself.
	Key string
	// Message says what was found and what would be right.
	Message string
}

// String is `file:line: where: key: message`.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	for _, part := range []string{p.Where, p.Key, p.Message} {
		if part != "" {
			b.WriteString(": ")
			b.WriteString(part)
		}
	}
	return b.String()
}

// Problems are all problems of a configuration. As an error they read one per line.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Sort orders problems by file, line, and what they are about.
func (p Problems) Sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Where, b.Where), cmp.Compare(a.Key, b.Key))
	})
}
