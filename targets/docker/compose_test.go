package docker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-cmp/cmp"
)

// composeFile has what makes replicas differ: two networks, an anonymous volume, a health check, limits.
const composeFile = `
version: "2.4"
services:
  web:
    image: workload
    environment: {LISTEN: ":80"}
    expose: ["80"]
    ports: ["80"]
    volumes: [/anonymous, "named:/named"]
    mem_limit: 64m
    mem_reservation: 32m
    cpus: 0.5
    stop_grace_period: 2s
    restart: unless-stopped
    networks: {default: {}, back: {aliases: [other]}}
    healthcheck: {test: [CMD, /program, check], interval: 300ms, timeout: 5s, retries: 3}
networks: {back: {}}
volumes: {named: {}}
`

// project is one that Compose itself runs.
type project struct {
	service
	program []string
	dir     string
}

// newProject skips the test where there is no Compose, unless the machine promised to run
// everything.
func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{service: service{t: t, engine: real.engine(t), project: strings.ToLower(t.Name())}, dir: t.TempDir()}
	if path, err := exec.LookPath("docker-compose"); err == nil {
		p.program = []string{path}
	} else if exec.Command("docker", "compose", "version").Run() == nil {
		p.program = []string{"docker", "compose"}
	} else if os.Getenv("CI") == "true" || os.Getenv("HPAD_REQUIRE_ALL") == "1" {
		t.Fatal("docker-compose is not installed")
	} else {
		t.Skip("docker-compose is not installed")
	}
	if err := os.WriteFile(filepath.Join(p.dir, "docker-compose.yml"), []byte(composeFile), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.removeAll() })
	return p
}

func (p *project) compose(args ...string) string {
	p.t.Helper()
	args = append(append(slices.Clone(p.program[1:]), "-p", p.project), args...)
	cmd := exec.Command(p.program[0], args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+p.engine.Host(), "HOME="+p.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// numbered is the running container with that number.
func (p *project) numbered(n string) container.InspectResponse {
	p.t.Helper()
	for _, c := range p.list() {
		if c.Labels[labelNumber] == n {
			return p.inspect(c.ID)
		}
	}
	p.t.Fatalf("there is no container number %s", n)
	return container.InspectResponse{}
}

func (p *project) eventuallyReady(target *target, n int) {
	p.t.Helper()
	eventually(p.t, func() error {
		if status := mustStatus(p.t, target); ready(status) != n || len(status.Instances) != n {
			return fmt.Errorf("the status is %+v", status)
		}
		return nil
	})
}

func TestComposeItselfTakesClonesForItsOwn(t *testing.T) {
	p := newProject(t)
	p.compose("up", "-d", "--scale", "web=2")
	target := p.target()
	p.eventuallyReady(target, 2)
	replica := configuration(t, p.numbered("2"))
	mustSet(t, target, 4)
	p.eventuallyReady(target, 4)
	clone := p.numbered("3")
	if diff := cmp.Diff(replica, configuration(t, clone)); diff != "" {
		t.Errorf("(-Compose's own +clone):\n%s", diff)
	}
	if want := strings.TrimSuffix(p.numbered("2").Name, "2") + "3"; clone.Name != want {
		t.Errorf("the clone is %q, want %q", clone.Name, want)
	}
	if list := p.compose("ps"); !strings.Contains(list, strings.TrimPrefix(clone.Name, "/")) {
		t.Errorf("Compose does not see the clone:\n%s", list)
	}
	p.compose("up", "-d", "--scale", "web=4")
	if now := p.numbered("3"); now.ID != clone.ID || now.RestartCount != 0 {
		t.Error("Compose has made the clone anew")
	}
	p.compose("up", "-d", "--scale", "web=6")
	if status := mustStatus(t, target); status.SpecReplicas != 6 {
		t.Errorf("the count is %d after Compose was asked for 6", status.SpecReplicas)
	}
	p.compose("down", "-v")
	if left := p.names(); len(left) != 0 {
		t.Errorf("down leaves %v", left)
	}
}

func TestClonesOutliveAPlainUpOfCompose(t *testing.T) {
	p := newProject(t)
	p.compose("up", "-d")
	target := p.target()
	mustSet(t, target, 3)
	p.eventuallyReady(target, 3)
	p.compose("up", "-d")
	if status := mustStatus(t, target); status.SpecReplicas != 3 {
		t.Errorf("the count is %d after a plain up", status.SpecReplicas)
	}
	p.eventuallyReady(target, 3)
	p.compose("down", "-v")
}

func TestConfigurationThatComposeChangesReachesAllReplicas(t *testing.T) {
	p := newProject(t)
	p.compose("up", "-d")
	target := p.target()
	mustSet(t, target, 3)
	p.eventuallyReady(target, 3)
	changed := strings.Replace(composeFile, `{LISTEN: ":80"}`, `{LISTEN: ":80", RELEASE: "2"}`, 1)
	if err := os.WriteFile(filepath.Join(p.dir, "docker-compose.yml"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	p.compose("up", "-d", "--scale", "web=3")
	p.eventuallyReady(target, 3)
	if status := mustStatus(t, target); status.SpecReplicas != 3 {
		t.Errorf("the count is %d", status.SpecReplicas)
	}
	mustSet(t, target, 4)
	p.eventuallyReady(target, 4)
	for _, c := range p.list() {
		if !slices.Contains(p.inspect(c.ID).Config.Env, "RELEASE=2") {
			t.Errorf("%v has the old configuration", c.Names)
		}
	}
	p.compose("down", "-v")
}
