package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.config = "hpad.toml"
	r := &reader{sandbox: s, files: []string{"hpad.toml"}}
	r.otherwise = map[string]otherwise{
		"make run":  {"TestDemonstration does", func() { s.makeDry("run") }},
		"make test": {"it is what runs this", func() { s.wants(s.makeDry("test"), "scripts/test") }},
		// One line more than the document has: another hpad may be running on this machine.
		"hpad run --config hpad.toml": {"the address is not free for sure", func() {
			s.run(`sed -i 's/^\[daemon\]$/&\nlisten = "127.0.0.1:9872"/' hpad.toml`)
			r.daemon = s.startDaemon("hpad run --config hpad.toml")
		}},
	}
	r.follow("README.md")
	s.prints("hpad get burn --config hpad.toml", "burn process/I cpu: N%/N% N N N N")
	s.within(patience, func() string { return "3 replicas" }, func() bool {
		out, _ := s.try("hpad get burn --config hpad.toml -o json")
		return strings.Contains(out, `"status_replicas": 3`)
	})
	s.interrupt(r.daemon)
	if !strings.Contains(r.daemon.out.String(), "msg=stopping") {
		t.Errorf("hpad did not stop by itself:\n%s", r.daemon.out.String())
	}
}

// wants looks for a line that has all of the words.
func (s *sandbox) wants(lines []string, words ...string) {
	s.Helper()
	for _, line := range lines {
		all := true
		for _, word := range words {
			all = all && strings.Contains(line, word)
		}
		if all {
			return
		}
	}
	s.Errorf("no line has %q:\n%s", words, strings.Join(lines, "\n"))
}

// prints looks for a shape in what a command prints.
func (s *sandbox) prints(line, want string) {
	s.Helper()
	out := s.run(line)
	for printed := range strings.Lines(out) {
		if strings.Contains(shape(printed), want) {
			return
		}
	}
	s.Errorf("%s does not print %q:\n%s", line, want, out)
}

func TestPoolsOfACommand(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.rewrites = append(s.rewrites, "/srv/pools", filepath.Join(s.dir, "srv/pools"))
	s.install("srv/pools/mailer/run", "#!/bin/sh\nexec sleep 1000\n")
	r := &reader{sandbox: s, files: []string{"etc/hpad/hpad.toml", "etc/hpad/workloads.d/mailer.toml"}}
	r.follow("targets/exec/README.md")
	s.run(`sed -i '1i include = ["workloads.d/*.toml"]' /etc/hpad/hpad.toml`)
	s.prints("hpad check --live", "ok: N workload, N source, N target")
	s.run("HPAD_OPERATION=set_replicas HPAD_TARGET=mailer HPAD_FROM_VERSION=1 HPAD_REPLICAS=0 /usr/local/libexec/hpad-pool /srv/pools")
	s.within(patience, func() string { return "the end of the worker" }, func() bool { return len(s.processes()) == 0 })
}

func TestBenchmarks(t *testing.T) {
	s := newSandbox(t)
	r := &reader{sandbox: s, otherwise: map[string]otherwise{
		"make bench": {"it takes many minutes", func() {
			commands := s.makeDry("bench")
			s.wants(commands, "-bench", "./algorithm", "./daemon/", "./sources/")
			s.wants(commands, "-run TestLoad", "./internal/loadtest")
		}},
	}}
	r.follow("docs/benchmarks.md")
}
