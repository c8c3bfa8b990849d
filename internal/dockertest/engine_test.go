package dockertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/swarm"
)

// childVariable makes TestMain launch an engine and wait to be killed.
const childVariable = "HPAD_DOCKERTEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	e, err := Launch()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(e.Dir())
	select {}
}

func TestContainersRunAndAreReachedThroughTheEngine(t *testing.T) {
	e := Start(t)
	e.ImportWorkload(t, "workload")
	ctx := t.Context()
	made, err := e.Client().ContainerCreate(ctx, &container.Config{Image: "workload", Env: []string{"LISTEN=:80"}}, nil, nil, nil, "web")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Client().ContainerStart(ctx, made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	inspect, err := e.Client().ContainerInspect(ctx, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + inspect.NetworkSettings.DefaultNetworkSettings.IPAddress + ":80/"
	var body []byte
	waitFor(t, "the container's answer", func() bool {
		answer, err := e.HTTPClient().Get(url)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		body, err = io.ReadAll(answer.Body)
		return err == nil
	})
	if string(body) != "ok\n" {
		t.Errorf("answer is %q", body)
	}
	theirs, err := os.Readlink(e.netns())
	if ours, _ := os.Readlink("/proc/thread-self/ns/net"); err != nil || theirs == ours {
		t.Errorf("the engine is in the machine's network: %v", err)
	}
	out, err := e.Command(ctx, "ip", "-o", "link", "show", "docker0").CombinedOutput()
	if err != nil {
		t.Errorf("cannot run a command in the engine's network: %v: %s", err, out)
	}
}

func TestSwarmServicesRun(t *testing.T) {
	e := Start(t)
	e.ImportWorkload(t, "workload")
	e.SwarmInit(t)
	replicas := uint64(2)
	spec := swarm.ServiceSpec{Annotations: swarm.Annotations{Name: "web"}}
	spec.TaskTemplate.ContainerSpec = &swarm.ContainerSpec{Image: "workload"}
	spec.Mode.Replicated = &swarm.ReplicatedService{Replicas: &replicas}
	if _, err := e.Client().ServiceCreate(t.Context(), spec, swarm.ServiceCreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "two running tasks", func() bool {
		list, err := e.Client().ServiceList(t.Context(), swarm.ServiceListOptions{Status: true})
		if err != nil {
			t.Fatal(err)
		}
		return list[0].ServiceStatus.RunningTasks == 2
	})
}

func TestCloseLeavesNothing(t *testing.T) {
	e, err := Launch()
	if err != nil {
		skipOrFail(t, err)
	}
	runContainer(t, e)
	if left := leftovers(e.Dir()); left.processes == 0 || left.cgroups == 0 || left.files == 0 {
		t.Fatalf("the running engine shows as %+v: the test sees nothing", left)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("the second Close says %v", err)
	}
	if left := leftovers(e.Dir()); left != (remains{}) {
		t.Errorf("left after Close: %+v", left)
	}
}

func TestKilledTestLeavesNoProcessAndTheNextOneCleansUp(t *testing.T) {
	if err := available(); err != nil {
		skipOrFail(t, err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	dir := strings.TrimSpace(line)
	if err != nil || !strings.HasPrefix(dir, prefix) {
		t.Fatalf("the child says %q, %v", line, err)
	}
	if err := child.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	waitFor(t, "the end of all processes", func() bool { return leftovers(dir).processes == 0 })
	if leftovers(dir).mounts != 0 {
		t.Error("mounts are left")
	}
	waitFor(t, "the removal of the leftovers", func() bool {
		removeLeftovers()
		return leftovers(dir) == remains{}
	})
}

func TestLeftoversOfLivingEnginesAreNotRemoved(t *testing.T) {
	p, err := newPlace()
	if err != nil {
		t.Fatal(err)
	}
	removeLeftovers()
	if _, err := os.Stat(p.path("config.json")); err != nil {
		t.Error(err)
	}
	if err := p.remove(); err != nil {
		t.Error(err)
	}
}

func TestEngineThatCannotStartSaysWhy(t *testing.T) {
	if err := available(); err != nil {
		skipOrFail(t, err)
	}
	p, err := newPlace()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path("config.json"), []byte("not JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &Engine{place: p}
	err = e.start()
	text := fmt.Sprint(err, p.logTail())
	if err == nil || !strings.Contains(text, "config.json") {
		t.Errorf("the error is %q", text)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestMissingEngineIsToldFromABrokenOne(t *testing.T) {
	var u *Unavailable
	if err := error(&Unavailable{"not root"}); !errors.As(err, &u) || !strings.Contains(err.Error(), "not root") {
		t.Errorf("error is %v", err)
	}
}

func runContainer(t *testing.T, e *Engine) {
	t.Helper()
	e.ImportWorkload(t, "workload")
	made, err := e.Client().ContainerCreate(t.Context(), &container.Config{Image: "workload"}, nil, nil, nil, "idle")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Client().ContainerStart(t.Context(), made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
}

type remains struct{ processes, mounts, cgroups, files int }

// leftovers counts what can be seen of the engine in dir.
func leftovers(dir string) remains {
	var r remains
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if text, _ := os.ReadFile(path); strings.Contains(string(text), dir) {
			r.processes++
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	r.mounts = strings.Count(string(mounts), dir)
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		groups, _ := filepath.Glob(pattern + filepath.Base(dir))
		r.cgroups += len(groups)
	}
	files, _ := filepath.Glob(dir)
	r.files = len(files)
	return r
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("no sign of %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestAnEngineThatEndsByItselfIsToldWithItsLastWords(t *testing.T) {
	e, err := Launch()
	if err != nil {
		skipOrFail(t, err)
	}
	if err := e.process.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-e.process.done
	if err := e.Close(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("Close says %v", err)
	}
}
