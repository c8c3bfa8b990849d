package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// reader does what somebody does who follows a document from its beginning to its end.
type reader struct {
	*sandbox
	// files are the names of the configurations that the document shows, in order.
	files []string
	// otherwise has what is done for commands that cannot run in a test as they are shown.
	otherwise map[string]otherwise

	daemon *process
	// shown is the command whose output the document shows next: it may have to be run until what
	// is shown has happened.
	shown string
}

// otherwise is what a test does instead of a command, and why.
type otherwise struct {
	reason string
	do     func()
}

// follow runs every command of the document and compares what the document shows with what is
// printed.
func (r *reader) follow(document string) {
	r.Helper()
	blocks := blocksOf(r.T, document)
	for command := range r.otherwise {
		if !slices.Contains(commandsIn(blocks), command) {
			r.Errorf("%s does not show %q any more", document, command)
		}
	}
	for _, b := range blocks {
		switch b.language {
		case "toml":
			if len(r.files) == 0 {
				r.Fatalf("%s shows a configuration that nothing is done with:\n%s", document, b.text)
			}
			r.write(r.files[0], b.text)
			r.files = r.files[1:]
		case "sh":
			if name := b.program(); name != "" {
				r.install("usr/local/libexec/"+name, b.text)
				continue
			}
			for _, line := range lines(b.text) {
				r.do(line)
			}
		case "text":
			r.compare(b.text)
		}
	}
	if len(r.files) > 0 {
		r.Errorf("%s does not show %q any more", document, r.files)
	}
}

func (r *reader) do(line string) {
	r.Helper()
	instead, found := r.otherwise[line]
	switch {
	case found:
		r.Logf("%s: %s", line, instead.reason)
		instead.do()
	case strings.HasPrefix(line, "hpad run"):
		r.daemon = r.startDaemon(line)
	case strings.Contains(line, " --watch"):
		watch := r.start(line)
		r.says(watch, "REPLICAS")
		r.interrupt(watch)
	default:
		r.shown = line
		r.run(line)
	}
}

// compare waits until every line that the document shows has been printed: by the daemon if they
// are lines of a log, otherwise by the command before.
func (r *reader) compare(text string) {
	r.Helper()
	print := func() string {
		// The command may fail until what it asks for is there.
		out, _ := r.try(r.shown)
		return out
	}
	if strings.Contains(text, "level=") {
		print = r.daemon.out.String
	}
	missing := map[string]string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			missing[shape(line)] = line
		}
	}
	last := ""
	r.within(2*patience, func() string { return fmt.Sprintf("the lines %q; last was\n%s", missing, last) }, func() bool {
		last = print()
		for line := range strings.Lines(last) {
			for want := range missing {
				if strings.Contains(shape(line), want) {
					delete(missing, want)
				}
			}
		}
		return len(missing) == 0
	})
}

// makeDry has make print what it would do for a target. What it prints are commands of this tree.
func (s *sandbox) makeDry(target string) []string {
	s.Helper()
	tree, err := filepath.Abs(top)
	s.must(err)
	out := s.run("make --no-print-directory --dry-run -C '" + tree + "' " + target)
	return lines(out)
}
