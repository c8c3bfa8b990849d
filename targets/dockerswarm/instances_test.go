package dockerswarm

import (
	"math"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"
	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func taskIn(id string, state, desired swarm.TaskState) swarm.Task {
	return swarm.Task{ID: id, Slot: 1, DesiredState: desired, Status: swarm.TaskStatus{State: state, Timestamp: noon}}
}

func TestTasksBecomeInstances(t *testing.T) {
	const run, stop = swarm.TaskStateRunning, swarm.TaskStateShutdown
	for _, test := range []struct {
		state, desired swarm.TaskState
		want           string // "" if not an instance
	}{
		{swarm.TaskStateNew, run, "pending"},
		{swarm.TaskStatePending, run, "pending"},
		{swarm.TaskStateAssigned, run, "pending"},
		{swarm.TaskStateAccepted, run, "pending"},
		{swarm.TaskStatePreparing, run, "pending"},
		{swarm.TaskStateReady, swarm.TaskStateReady, "pending"},
		{swarm.TaskStateStarting, run, "pending"},
		{run, run, "running"},
		{run, stop, "running deleting"},
		{run, swarm.TaskStateRemove, "running deleting"},
		{swarm.TaskStateStarting, stop, "pending deleting"},
		{swarm.TaskStateComplete, stop, ""},
		{swarm.TaskStateShutdown, stop, ""},
		{swarm.TaskStateFailed, run, ""},
		{swarm.TaskStateRejected, run, ""},
		{swarm.TaskStateOrphaned, run, ""},
	} {
		got := ""
		for _, i := range instances(&view{tasks: []swarm.Task{taskIn("t1", test.state, test.desired)}}) {
			got = describe(t, i)
		}
		if got != test.want {
			t.Errorf("a task in state %s that is to be %s is %q, want %q", test.state, test.desired, got, test.want)
		}
	}
}

func describe(t *testing.T, i targets.Instance) string {
	t.Helper()
	text := "pending"
	running := i.Phase == algorithm.PhaseRunning
	if running {
		text = "running"
	}
	if running != (i.Ready == algorithm.Ready) || running != i.Started.Equal(noon) || running != i.ReadyTransition.Equal(noon) {
		t.Errorf("the instance is %+v", i)
	}
	if i.Deleting {
		text += " deleting"
	}
	return text
}

func TestTasksOfOtherNodesAreRemote(t *testing.T) {
	for _, test := range []struct {
		engine, node string
		remote       bool
		pid          int
	}{
		{"n1", "n1", false, 42},
		{"n1", "n2", true, 0},
		{"n1", "", false, 42},
		{"", "n2", false, 42},
	} {
		task := taskIn("t1", swarm.TaskStateRunning, swarm.TaskStateRunning)
		task.NodeID = test.node
		task.Status.ContainerStatus = &swarm.ContainerStatus{ContainerID: "0123456789abcdef", PID: 42}
		got := instances(&view{node: test.engine, tasks: []swarm.Task{task}})[0]
		if got.Remote != test.remote || got.PID != test.pid {
			t.Errorf("on %q seen from %q: remote %v, PID %d", test.node, test.engine, got.Remote, got.PID)
		}
	}
}

func TestIdentifiersHoldEveryNameOfATask(t *testing.T) {
	task := taskIn("t1", swarm.TaskStateRunning, swarm.TaskStateRunning)
	task.Spec.ContainerSpec = &swarm.ContainerSpec{Hostname: "web-{{.Task.Slot}}"}
	task.Status.ContainerStatus = &swarm.ContainerStatus{ContainerID: "0123456789abcdef"}
	attach := func(name string, addresses ...string) {
		a := swarm.NetworkAttachment{Addresses: addresses}
		a.Network.Spec.Name = name
		task.NetworksAttachments = append(task.NetworksAttachments, a)
	}
	attach("ingress", "10.255.0.3/16")
	attach("back", "10.0.1.5/24", "fd00::5/64", "nonsense")
	seen := view{tasks: []swarm.Task{task}}
	seen.service.Spec.Name = "web"
	seen.service.Endpoint.Ports = []swarm.PortConfig{{TargetPort: 8080}, {TargetPort: 9100}}
	want := []string{
		"t1", "0123456789ab", "0123456789abcdef", "10.0.1.5", "10.0.1.5:8080", "10.0.1.5:9100",
		"[fd00::5]:8080", "[fd00::5]:9100", "fd00::5", "web.1", "web.1.t1",
	}
	if diff := cmp.Diff(want, instances(&seen)[0].Identifiers); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsAreReservationsElseLimits(t *testing.T) {
	cpu := func(v algorithm.Quantity) algorithm.Request { return algorithm.Request{Resource: "cpu", Value: v} }
	memory := func(v algorithm.Quantity) algorithm.Request {
		return algorithm.Request{Resource: "memory", Value: v}
	}
	for name, test := range map[string]struct {
		given *swarm.ResourceRequirements
		want  []algorithm.Request
	}{
		"nothing": {nil, nil},
		"empty":   {&swarm.ResourceRequirements{Limits: &swarm.Limit{Pids: 5}}, nil},
		"limits":  {&swarm.ResourceRequirements{Limits: &swarm.Limit{NanoCPUs: 5e8, MemoryBytes: 7}}, []algorithm.Request{cpu(500), memory(7000)}},
		"mixed": {&swarm.ResourceRequirements{
			Limits:       &swarm.Limit{NanoCPUs: 5e8, MemoryBytes: 7},
			Reservations: &swarm.Resources{NanoCPUs: 1},
		}, []algorithm.Request{cpu(1), memory(7000)}},
		"huge": {&swarm.ResourceRequirements{Reservations: &swarm.Resources{MemoryBytes: math.MaxInt64}}, []algorithm.Request{memory(math.MaxInt64 / 1000 * 1000)}},
	} {
		if diff := cmp.Diff(test.want, requests(test.given)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestUpdatesBlockUntilTheyAreNoLongerWatched(t *testing.T) {
	minute := &swarm.UpdateConfig{Monitor: time.Minute}
	for _, test := range []struct {
		state  swarm.UpdateState
		config *swarm.UpdateConfig
		since  time.Duration
		want   string
	}{
		{swarm.UpdateStateUpdating, nil, time.Hour, "UpdateInProgress"},
		{swarm.UpdateStateRollbackStarted, nil, time.Hour, "RollbackInProgress"},
		{swarm.UpdateStatePaused, nil, time.Hour, "UpdatePaused"},
		{swarm.UpdateStateRollbackPaused, nil, time.Hour, "RollbackPaused"},
		{swarm.UpdateStateCompleted, minute, 59 * time.Second, "UpdateMonitored"},
		{swarm.UpdateStateCompleted, minute, 60 * time.Second, ""},
		{swarm.UpdateStateCompleted, nil, 4 * time.Second, "UpdateMonitored"},
		{swarm.UpdateStateCompleted, nil, 5 * time.Second, ""},
		{swarm.UpdateStateRollbackCompleted, minute, 59 * time.Second, "UpdateMonitored"},
		{"", nil, 0, ""},
	} {
		service := swarm.Service{UpdateStatus: &swarm.UpdateStatus{State: test.state, CompletedAt: &noon}}
		service.Spec.UpdateConfig, service.Spec.RollbackConfig = test.config, test.config
		got := ""
		for _, block := range updateBlocks(&service, noon.Add(test.since)) {
			got = block.Reason
			if !block.Up || !block.Down || block.Message == "" {
				t.Errorf("%s: the block is %+v", test.state, block)
			}
		}
		if got != test.want {
			t.Errorf("%s after %v: reason %q, want %q", test.state, test.since, got, test.want)
		}
	}
	if blocks := updateBlocks(&swarm.Service{}, noon); blocks != nil {
		t.Errorf("a service that was never updated has %+v", blocks)
	}
}

func TestUnplacedTasksAreCountedByCause(t *testing.T) {
	var tasks []swarm.Task
	add := func(state, desired swarm.TaskState, cause string) {
		task := taskIn("", state, desired)
		task.Status.Err = cause
		tasks = append(tasks, task)
	}
	const pending, running = swarm.TaskStatePending, swarm.TaskStateRunning
	add(pending, running, "no suitable node (insufficient resources on 2 nodes)")
	add(pending, running, "no suitable node (insufficient resources on 2 nodes)")
	add(pending, running, "no suitable node (max replicas per node limit exceed)")
	add(pending, swarm.TaskStateShutdown, "no suitable node (gone)")
	add(pending, running, "")
	add(swarm.TaskStateRejected, running, "No such image: x")
	want := []string{
		"1 task cannot be placed: no suitable node (max replicas per node limit exceed)",
		"2 tasks cannot be placed: no suitable node (insufficient resources on 2 nodes)",
	}
	if diff := cmp.Diff(want, unplaced(tasks)); diff != "" {
		t.Error(diff)
	}
}
