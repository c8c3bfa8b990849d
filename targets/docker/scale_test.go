package docker

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

type edits = func(*container.Config, *container.HostConfig, *network.NetworkingConfig)

// crash leaves what an hpad leaves that ends between creating clones and starting them.
func (s *service) crash(numbers ...int) {
	s.t.Helper()
	t := s.target()
	sc, err := t.look(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := t.cloneAll(s.t.Context(), sc, numbers); err != nil {
		s.t.Fatal(err)
	}
}

func TestClonesThatWereNeverStartedAreAdopted(t *testing.T) {
	s := newService(t, 1)
	s.crash(2, 3)
	s.eventuallyNamed([]string{"web-2", "web-3"}, "created")
	left := s.inspect(s.name(2)).ID
	target := s.target()
	if status := mustStatus(t, target); status.SpecReplicas != 1 || len(status.Instances) != 1 {
		t.Errorf("half-made clones count: %+v", status)
	}
	mustSet(t, target, 3)
	s.eventuallyNamed([]string{"web-1", "web-2", "web-3"}, "running")
	if now := s.inspect(s.name(2)).ID; now != left {
		t.Error("the clone was made again")
	}
}

func TestOldClonesThatWereNeverStartedAreReaped(t *testing.T) {
	s := newService(t, 2)
	s.crash(3, 4)
	target := s.target()
	sc, err := target.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	target.reap(sc)
	target.connection.work.wg.Wait()
	s.eventuallyNamed([]string{"web-1", "web-2", "web-3", "web-4"}) // somebody may be about to start them
	sc.now = sc.now.Add(2 * youngest)
	target.reap(sc)
	target.connection.work.wg.Wait()
	s.eventuallyNamed([]string{"web-1", "web-2"})
}

func TestNameOfAStrangerIsRefusedAndNothingIsMade(t *testing.T) {
	s := newService(t, 1)
	made, err := s.api().ContainerCreate(t.Context(), &container.Config{Image: "workload"}, nil, nil, nil, s.name(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.remove(made.ID) })
	target := s.target()
	err = target.SetReplicas(t.Context(), mustStatus(t, target), 3)
	wantClass(t, err, targets.Blocked)
	if !strings.Contains(fmt.Sprint(err), "the name is taken by container "+made.ID[:12]) {
		t.Errorf("the error is %q", err)
	}
	target.connection.work.wg.Wait()
	s.eventuallyNamed([]string{"web-1"})
	if status := mustStatus(t, target); status.SpecReplicas != 1 {
		t.Errorf("the status is %+v", status)
	}
}

func TestContainerMadeByOthersMeanwhileIsAConflict(t *testing.T) {
	s := newService(t, 1)
	target := s.target()
	sc, err := target.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.add(2)
	_, err = target.cloneAll(t.Context(), sc, []int{2})
	wantClass(t, err, targets.Conflict)
}

func TestTwoActorsMakeEachCloneOnce(t *testing.T) {
	s := newService(t, 1)
	one, other := s.target(), s.target()
	from := mustStatus(t, one)
	done := make(chan error)
	for _, actor := range []*target{one, other} {
		go func() { done <- actor.SetReplicas(t.Context(), from, 4) }()
	}
	for range 2 {
		if err := <-done; err != nil && targets.ClassOf(err, true) != targets.Conflict {
			t.Error(err)
		}
	}
	s.eventuallyNamed([]string{"web-1", "web-2", "web-3", "web-4"}, "running")
	for _, actor := range []*target{one, other} {
		if status := mustStatus(t, actor); status.SpecReplicas != 4 {
			t.Errorf("an actor sees %d replicas", status.SpecReplicas)
		}
	}
}

func TestHighestNumbersGoFirstAndTheTemplateStays(t *testing.T) {
	s := newService(t, 0)
	s.add(4) // the template: gaps are usual
	s.add(9)
	target := s.target()
	mustSet(t, target, 4)
	s.eventuallyNamed([]string{"web-10", "web-11", "web-4", "web-9"}, "running")
	mustSet(t, target, 2)
	s.eventuallyNamed([]string{"web-4", "web-9"})
	mustSet(t, target, 1)
	s.eventuallyNamed([]string{"web-4"})
}

func TestTemplateIsStoppedForNoneAndStartedAgain(t *testing.T) {
	s := newService(t, 1)
	id := s.inspect(s.name(1)).ID
	target := s.target()
	mustSet(t, target, 2)
	mustSet(t, target, 0)
	s.eventuallyNamed([]string{"web-1"}, "exited")
	s.eventuallyNamed([]string{"web-1"})
	target.connection.work.wg.Wait()
	if status := mustStatus(t, target); status.SpecReplicas != 0 || len(status.Instances) != 0 || len(status.Warnings) != 0 {
		t.Errorf("the status is %+v", status)
	}
	mustSet(t, target, 2)
	if status := mustStatus(t, target); status.SpecReplicas != 2 {
		t.Errorf("while the template starts the count is %d", status.SpecReplicas)
	}
	s.eventuallyNamed([]string{"web-1", "web-2"}, "running")
	if now := s.inspect(s.name(1)).ID; now != id {
		t.Error("the template was made anew")
	}
}

func TestContainerThatIgnoresItsSignalIsKilledAndSeenUntilThen(t *testing.T) {
	grace := 2
	s := newService(t, 1, func(c *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) {
		c.Env = append(c.Env, "IGNORE_TERM=1")
		c.StopTimeout = &grace
	})
	target := s.target()
	mustSet(t, target, 2)
	s.eventuallyNamed([]string{"web-1", "web-2"}, "running")
	target.connection.work.wg.Wait()
	began := time.Now()
	mustSet(t, target, 1)
	if took := time.Since(began); took > time.Duration(grace)*time.Second {
		t.Errorf("SetReplicas waited %v for the end", took)
	}
	status := mustStatus(t, target)
	deleting := 0
	for i := range status.Instances {
		if status.Instances[i].Deleting {
			deleting++
		}
	}
	if deleting != 1 || status.SpecReplicas != 1 || status.StatusReplicas != 1 {
		t.Errorf("while a container stops the status is %+v", status)
	}
	s.eventuallyNamed([]string{"web-1"})
	if took := time.Since(began); took < time.Duration(grace)*time.Second {
		t.Errorf("the container was killed after %v", took)
	}
}

func checked(env ...string) edits {
	return func(c *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) {
		c.Env = append(c.Env, append(env, "LISTEN=:80")...)
		c.Healthcheck = &container.HealthConfig{Test: []string{"CMD", "/program", "check"}, Interval: 300 * time.Millisecond, Timeout: 5 * time.Second, Retries: 3}
	}
}

func TestReadinessIsThatOfTheHealthCheck(t *testing.T) {
	s := newService(t, 1, checked("DELAY=1s"))
	target := s.target()
	seen := func() algorithm.Instance { return mustStatus(t, target).Instances[0].Instance }
	first := seen()
	if first.Ready != algorithm.NotReady || first.Phase != algorithm.PhaseRunning || !first.ReadyTransition.Equal(first.Started) || first.Started.IsZero() {
		t.Errorf("while it starts: %+v", first)
	}
	becomes := func(want algorithm.Readiness) algorithm.Instance {
		var now algorithm.Instance
		eventually(t, func() error {
			if now = seen(); now.Ready != want {
				return fmt.Errorf("it is %+v", now)
			}
			return nil
		})
		return now
	}
	if ready := becomes(algorithm.Ready); !ready.ReadyTransition.After(ready.Started) {
		t.Errorf("once it is healthy: %+v", ready)
	}
	address := s.inspect(s.name(1)).NetworkSettings.Networks[s.project+"_default"].IPAddress
	answer, err := s.engine.HTTPClient().Get("http://" + address + "/health?status=503")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("cannot make it unhealthy: %v", err)
	}
	answer.Body.Close()
	if sick := becomes(algorithm.NotReady); !sick.ReadyTransition.After(sick.Started.Add(time.Second)) {
		t.Errorf("once it is unhealthy: %+v", sick)
	}
	s.add(2)
	s.add(3)
	eventually(t, func() error {
		if n := ready(mustStatus(t, target)); n != 2 {
			return fmt.Errorf("%d are ready", n)
		}
		return nil
	})
}

func TestInstanceHasItsNamesAndRequests(t *testing.T) {
	s := newService(t, 1, everything)
	status := mustStatus(t, s.target())
	got, seen := status.Instances[0], s.inspect(s.name(1))
	address := seen.NetworkSettings.Networks[s.project+"_default"].IPAddress
	published := seen.NetworkSettings.Ports["80/tcp"][0].HostPort
	for _, want := range []string{seen.ID, seen.ID[:12], s.name(1), address, address + ":80", s.name(1) + ":80", seen.ID[:12] + ":80", "localhost:" + published} {
		if !slices.Contains(got.Identifiers, want) {
			t.Errorf("the identifiers %q lack %q", got.Identifiers, want)
		}
	}
	if got.ContainerID != seen.ID || got.PID != seen.State.Pid || got.Remote {
		t.Errorf("the instance is %+v", got)
	}
	want := []algorithm.Request{{Resource: "cpu", Value: 500}, {Resource: "memory", Value: 32 << 20 * 1000}}
	if requests := got.Containers[0].Requests; !slices.Equal(requests, want) {
		t.Errorf("the requests are %+v, want %+v", requests, want)
	}
}

func TestRestartLoopIsNotReadyAndWarnedOf(t *testing.T) {
	s := newService(t, 1, func(c *container.Config, h *container.HostConfig, _ *network.NetworkingConfig) {
		c.Env = append(c.Env, "EXIT=3")
		h.RestartPolicy.Name = "always"
	})
	target := s.target()
	eventually(t, func() error {
		status := mustStatus(t, target)
		if len(status.Warnings) != 1 || !strings.Contains(status.Warnings[0], "the last exit code was 3") {
			return fmt.Errorf("the warnings are %q", status.Warnings)
		}
		if status.SpecReplicas != 1 || ready(status) != 0 {
			t.Errorf("the status is %+v", status)
		}
		return nil
	})
}

func TestEndedContainersDoNotCountAndBrokenOnesAreNotStartedAgain(t *testing.T) {
	exits := "EXIT=3"
	s := newService(t, 1, func(c *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) {
		if c.Labels[labelNumber] == "2" {
			c.Env = append(c.Env, exits)
		}
	})
	s.add(2)
	s.eventuallyNamed([]string{"web-2"}, "exited")
	target := s.target()
	status := mustStatus(t, target)
	if status.SpecReplicas != 1 || len(status.Warnings) != 1 || !strings.Contains(status.Warnings[0], "has ended with exit code 3") {
		t.Errorf("the status is %+v", status)
	}
	mustSet(t, target, 2)
	s.eventuallyNamed([]string{"web-1", "web-3"}, "running")
}

func TestCloneThatCannotBeStartedIsRemovedAndHoldsGrowth(t *testing.T) {
	// Of two ports the engine has none for a third container, which it says when that one starts.
	s := newService(t, 1, ports("18080-18081"))
	target := s.target()
	mustSet(t, target, 4)
	target.connection.work.wg.Wait()
	if got := s.names(); len(got) != 2 {
		t.Errorf("there are %v", got)
	}
	status := mustStatus(t, target)
	block := status.Blocked(status.SpecReplicas + 1)
	if status.SpecReplicas != 2 || block == nil || block.Reason != reasonStart || !strings.Contains(block.Message, "cannot start container") {
		t.Errorf("the status is %+v", status)
	}
	wantClass(t, target.SetReplicas(t.Context(), status, 3), targets.Capacity)
	if err := target.SetReplicas(t.Context(), status, 1); err != nil {
		t.Errorf("shrinking is refused: %v", err)
	}
}

func TestClonesThatComposeRemovesAreMadeAgain(t *testing.T) {
	s := newService(t, 1)
	target := s.target()
	mustSet(t, target, 3)
	s.eventuallyNamed([]string{"web-1", "web-2", "web-3"}, "running")
	old := s.inspect(s.name(2)).ID
	s.scale(1) // as a plain "compose up" does
	if status := mustStatus(t, target); status.SpecReplicas != 3 || status.StatusReplicas != 1 {
		t.Errorf("the status is %+v", status)
	}
	watcher := s.target() // has changed nothing: like a check, it only looks
	eventually(t, func() error {
		if status := mustStatus(t, watcher); status.SpecReplicas > 3 {
			t.Fatalf("another target sees %+v", status)
		}
		if status := mustStatus(t, target); ready(status) != 3 {
			return fmt.Errorf("the status is %+v", status)
		}
		return nil
	})
	if s.inspect(s.name(2)).ID == old {
		t.Error("nothing was removed")
	}
}

func TestReplicasThatOthersRemoveAreNotMadeAgain(t *testing.T) {
	s := newService(t, 3)
	target := s.target()
	mustSet(t, target, 4)
	s.eventuallyNamed([]string{"web-1", "web-2", "web-3", "web-4"}, "running")
	s.remove(s.inspect(s.name(2)).ID)
	if status := mustStatus(t, target); status.SpecReplicas != 3 {
		t.Errorf("the status is %+v", status)
	}
}

func TestOneOffContainersAreNoMembers(t *testing.T) {
	s := newService(t, 1)
	s.add(2, labelOneOff, "True")
	target := s.target()
	if status := mustStatus(t, target); status.SpecReplicas != 1 || len(status.Instances) != 1 {
		t.Errorf("the status is %+v", status)
	}
}

func TestClosedConnectionLeavesWhatRuns(t *testing.T) {
	s := newService(t, 1)
	c, _ := s.connect()
	target := bind(t, c, s.table())
	mustSet(t, target, 2)
	c.work.wg.Wait()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	s.eventuallyNamed([]string{"web-1", "web-2"}, "running")
	if status := mustStatus(t, s.target()); status.SpecReplicas != 2 {
		t.Errorf("after a restart the count is %d", status.SpecReplicas)
	}
	_, err := target.Status(context.Background())
	wantClass(t, err, targets.Unavailable)
}
