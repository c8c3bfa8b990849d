package dockerswarm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/internal/dockertest"
	"github.com/hpad/hpad/targets"
)

func TestScalingLeavesExistingTasksAlone(t *testing.T) {
	s := newService(t, replicated(3))
	target := s.target()
	before := eventuallyRunning(t, target, 3)
	if err := target.SetReplicas(t.Context(), before, 5); err != nil {
		t.Fatal(err)
	}
	after := eventuallyRunning(t, target, 5)
	for _, instance := range before.Instances {
		same := func(i targets.Instance) bool {
			return i.ID == instance.ID && i.ContainerID == instance.ContainerID && i.Started.Equal(instance.Started)
		}
		if !slices.ContainsFunc(after.Instances, same) {
			t.Errorf("task %q was touched", instance.ID)
		}
	}
}

func TestRunningTaskIsAnInstanceWithItsNames(t *testing.T) {
	s := newService(t, func(spec *swarm.ServiceSpec) {
		replicated(1)(spec)
		spec.TaskTemplate.ContainerSpec.Hostname = "alpha"
		spec.TaskTemplate.Resources = &swarm.ResourceRequirements{Reservations: &swarm.Resources{NanoCPUs: 1_000_000, MemoryBytes: 8 << 20}}
	})
	got := eventuallyRunning(t, s.target(), 1).Instances[0]
	names := strings.Join(got.Identifiers, " ")
	for _, want := range []string{got.ID, s.spec.Name + ".1", s.spec.Name + ".1." + got.ID, got.ContainerID, got.ContainerID[:12], "alpha"} {
		if !slices.Contains(got.Identifiers, want) {
			t.Errorf("the identifiers %s lack %q", names, want)
		}
	}
	if len(got.ContainerID) != 64 || got.PID == 0 || got.Remote {
		t.Errorf("container %q, PID %d, remote %v", got.ContainerID, got.PID, got.Remote)
	}
	requests := got.Containers[0].Requests
	if len(requests) != 2 || requests[0].Value != 1 || requests[1].Value != 8<<20*1000 {
		t.Errorf("requests are %+v", requests)
	}
}

// stubborn asks for a count again and again until the rollout is over, and returns how often it
// was refused. Any answer but Busy, or Conflict when the rollout takes its next step, fails the test.
func stubborn(t *testing.T, s *service, target targets.Target, replicas int32, over ...swarm.UpdateState) (refused int) {
	t.Helper()
	began := false
	eventually(t, func() error {
		update := s.inspect().UpdateStatus
		if update == nil {
			return errStillThere
		}
		began = true
		if slices.Contains(over, update.State) {
			return nil
		}
		status := mustStatus(t, target)
		if status.Blocked(replicas) == nil {
			// The rollout was over, and watched no more, between two readings.
			return nil
		}
		err := target.SetReplicas(t.Context(), status, replicas)
		if err == nil || targets.ClassOf(err, true) != targets.Conflict {
			wantClass(t, err, targets.Busy)
		}
		refused++
		return errStillThere
	})
	if !began || refused == 0 {
		t.Error("the rollout was over before anything was tried")
	}
	return refused
}

func TestRollingUpdateIsNotDisturbed(t *testing.T) {
	s := newService(t, replicated(3))
	target := s.target()
	eventuallyRunning(t, target, 3)
	end := s.rollOut()
	defer end()
	stubborn(t, s, target, 5, swarm.UpdateStateCompleted)
	seen := s.inspect()
	if seen.PreviousSpec == nil || slices.Contains(seen.PreviousSpec.TaskTemplate.ContainerSpec.Env, "RELEASE=2") {
		t.Error("a rollback would not return to what ran before the update")
	}
	eventually(t, func() error {
		status := mustStatus(t, target)
		if len(status.Blocks) > 0 {
			return fmt.Errorf("blocked: %+v", status.Blocks)
		}
		return target.SetReplicas(t.Context(), status, 5)
	})
	eventuallyRunning(t, target, 5)
}

func TestFailingUpdateIsRolledBackAlthoughScalingIsAskedFor(t *testing.T) {
	s := newService(t, func(spec *swarm.ServiceSpec) {
		replicated(4)(spec)
		spec.UpdateConfig.FailureAction = swarm.UpdateFailureActionRollback
		spec.UpdateConfig.Monitor = 2 * time.Second
	})
	target := s.target()
	eventuallyRunning(t, target, 4)
	s.update(func(spec *swarm.ServiceSpec) {
		spec.TaskTemplate.ContainerSpec.Env = append(spec.TaskTemplate.ContainerSpec.Env, "EXIT=1")
	})
	stubborn(t, s, target, 5, swarm.UpdateStateRollbackCompleted)
	if env := s.inspect().Spec.TaskTemplate.ContainerSpec.Env; slices.Contains(env, "EXIT=1") {
		t.Errorf("the environment is %v after the rollback", env)
	}
	eventuallyRunning(t, target, 4)
}

func TestPausedUpdateHolds(t *testing.T) {
	s := newService(t, func(spec *swarm.ServiceSpec) {
		replicated(2)(spec)
		spec.UpdateConfig.FailureAction = swarm.UpdateFailureActionPause
		spec.UpdateConfig.Monitor = 2 * time.Second
	})
	target := s.target()
	eventuallyRunning(t, target, 2)
	s.update(func(spec *swarm.ServiceSpec) {
		spec.TaskTemplate.ContainerSpec.Env = append(spec.TaskTemplate.ContainerSpec.Env, "EXIT=1")
	})
	stubborn(t, s, target, 3, swarm.UpdateStatePaused)
	status := mustStatus(t, target)
	block := status.Blocked(3)
	if block == nil || block.Reason != "UpdatePaused" || status.Blocked(1) == nil {
		t.Errorf("the blocks are %+v", status.Blocks)
	}
}

func TestTasksWithoutANodeAreReportedAndHoldGrowth(t *testing.T) {
	s := newService(t, func(spec *swarm.ServiceSpec) {
		replicated(2)(spec)
		spec.TaskTemplate.Resources = &swarm.ResourceRequirements{Reservations: &swarm.Resources{NanoCPUs: 1000e9}}
	})
	target := s.target()
	var status targets.Status
	eventually(t, func() error {
		status = mustStatus(t, target)
		if len(status.Warnings) == 0 || !strings.HasPrefix(status.Warnings[0], "2 tasks cannot be placed: no suitable node") {
			return fmt.Errorf("the warnings are %q", status.Warnings)
		}
		return nil
	})
	wantClass(t, target.SetReplicas(t.Context(), status, 3), targets.Capacity)
	if n := s.replicas(); n != 2 {
		t.Errorf("the service has %d replicas after a refused growth", n)
	}
	if err := target.SetReplicas(t.Context(), status, 1); err != nil {
		t.Errorf("shrinking is refused: %v", err)
	}
}

func TestOtherModesAreRefusedAndUntouched(t *testing.T) {
	one := uint64(1)
	for mode, edit := range map[string]func(*swarm.ServiceMode){
		"global":         func(m *swarm.ServiceMode) { m.Global = &swarm.GlobalService{} },
		"replicated-job": func(m *swarm.ServiceMode) { m.ReplicatedJob = &swarm.ReplicatedJob{TotalCompletions: &one} },
		"global-job":     func(m *swarm.ServiceMode) { m.GlobalJob = &swarm.GlobalJob{} },
	} {
		t.Run(mode, func(t *testing.T) {
			s := newService(t, func(spec *swarm.ServiceSpec) {
				spec.Mode = swarm.ServiceMode{}
				edit(&spec.Mode)
				if strings.HasSuffix(mode, "job") {
					spec.UpdateConfig, spec.RollbackConfig = nil, nil
				}
			})
			target, before := s.target(), s.inspect()
			_, err := target.Status(t.Context())
			wantClass(t, err, targets.Invalid)
			if err != nil && !strings.Contains(err.Error(), "its mode is "+mode+",") {
				t.Errorf("the error is %q", err)
			}
			wantClass(t, target.SetReplicas(t.Context(), targets.Status{}, 2), targets.Invalid)
			if after := s.inspect(); !before.UpdatedAt.Equal(after.UpdatedAt) {
				t.Error("the service was updated")
			}
		})
	}
}

func TestUpdateWithAnOldVersionIsAConflict(t *testing.T) {
	s := newService(t, replicated(1))
	target, old := s.target(), s.inspect()
	s.update(replicated(2))
	spec := []byte(`{"Name":"` + s.spec.Name + `","Mode":{"Replicated":{"Replicas":5}},"TaskTemplate":{"ContainerSpec":{"Image":"workload"}}}`)
	mustStatus(t, target)
	wantClass(t, target.update(t.Context(), &old, spec), targets.Conflict)
	if n := s.replicas(); n != 2 {
		t.Errorf("the service has %d replicas", n)
	}
}

func TestNameIsNeitherAnIDNorAPrefix(t *testing.T) {
	s := newService(t, replicated(1))
	id := s.inspect().ID
	for name, want := range map[string]targets.Class{
		id:                             targets.Invalid,
		id[:8]:                         targets.NotFound,
		s.spec.Name[:8]:                targets.NotFound,
		strings.ToLower(s.spec.Name):   targets.NotFound,
		s.spec.Name + "-and-something": targets.NotFound,
	} {
		_, err := s.bind(name).Status(t.Context())
		if err == nil || targets.ClassOf(err, false) != want {
			t.Errorf("Status of %q says %v, want class %v", name, err, want)
		}
	}
}

func TestEngineOutsideASwarmIsRefusedWithAHint(t *testing.T) {
	e := dockertest.Start(t)
	connection := connect(t, e.Host())
	defer connection.Close()
	target, err := connection.Bind(table("service", "web"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = target.Status(t.Context())
	wantClass(t, err, targets.Invalid)
	wantClass(t, target.SetReplicas(t.Context(), targets.Status{}, 2), targets.Invalid)
	if !strings.Contains(fmt.Sprint(err), "host must be a manager of the swarm") {
		t.Errorf("the error is %q", err)
	}
}
