package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// exampleMain is the main file that the examples of the commands' help talk about, exampleWorkload
// what stands in it once "hpad autoscale" has been shown.
const exampleMain = `[daemon]
listen = "127.0.0.1:9872"
socket = "/run/hpad/hpad.sock"
state_dir = "/var/lib/hpad"

[targets.swarm]
driver = "docker-swarm"
`

const exampleWorkload = `
[[workload]]
name = "web"
target = { via = "process", command = ["sleep", "1000"] }
max_replicas = 2
requests = { cpu = 1 }
`

const exampleScenario = `{"name":"double","workload":{"max_replicas":10,"metrics":[{"type":"external","name":"queue","target":{"type":"average_value","value":10000}}]},"steps":[{"at_s":0,"spec_replicas":2,"samples":[{"values":[{"value_milli":40000}]}]}]}
`

// TestExamplesOfCommands runs the examples of every command's help, which docs/commands.md shows.
func TestExamplesOfCommands(t *testing.T) {
	t.Parallel()
	s := newDemonstration(t)
	s.config = s.dir + "/etc/hpad/hpad.toml"
	s.write("etc/hpad/hpad.toml", exampleMain)
	s.write("scenarios.jsonl", exampleScenario)
	s.rewrites = append(s.rewrites, "http://10.0.0.7:9872", s.rewrite("http://127.0.0.1:9872"), "/tmp/hpad.toml", s.config)
	for _, folder := range []string{"run/hpad", "etc/hpad/workloads.d", "var/lib/hpad", "zsh", ".config/fish/completions"} {
		s.must(os.MkdirAll(s.dir+"/"+folder, 0o755))
	}

	s.run("ln -s $(command -v sleep) /usr/bin/mailer")

	examples := examplesOf(newRoot())
	for _, line := range examples["autoscale"] {
		s.run(line)
	}
	s.write("etc/hpad/hpad.toml", exampleMain+exampleWorkload)
	for _, line := range examples["run"] {
		if strings.HasPrefix(line, "hpad run") {
			s.interrupt(s.startDaemon(line))
		}
	}
	daemon := s.startDaemon("hpad run")
	// What the shells of other people have, and the one daemon that is meant.
	setting := fmt.Sprintf("fpath=(. zsh); pidof() { cat /proc/%d/task/*/children; }; ", daemon.cmd.Process.Pid)
	seen := len(examples["autoscale"])
	delete(examples, "autoscale")
	for _, lines := range examples {
		for _, line := range lines {
			seen++
			s.runExample(line, setting)
		}
	}
	if seen < 20 {
		t.Errorf("found only %d examples", seen)
	}
	s.says(daemon, `msg="configuration reloaded"`)
	s.interrupt(daemon)
}

func (s *sandbox) runExample(line, setting string) {
	s.Helper()
	switch {
	case strings.HasPrefix(line, "hpad run"):
		// They came first: there is one daemon at a time.
	case strings.Contains(line, "--watch"):
		watch := s.start(line)
		s.says(watch, "REPLICAS")
		s.interrupt(watch)
	case strings.Contains(line, "| jq ") && !installed("jq"):
		s.Logf("not run, jq is not installed: %s", line)
	default:
		s.run(setting + line)
	}
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// examplesOf are the command lines of the examples, by command.
func examplesOf(root *cobra.Command) map[string][]string {
	all := map[string][]string{}
	for _, c := range append(root.Commands(), root) {
		if !c.Hidden {
			all[c.Name()] = lines(c.Example)
		}
	}
	return all
}
