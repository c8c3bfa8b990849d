package dockerswarm

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// instances are the tasks that exist: neither those that have ended, which a swarm keeps for their
// history, nor the successors that are not made yet.
func instances(seen *view) []targets.Instance {
	var list []targets.Instance
	for i := range seen.tasks {
		if !ended(&seen.tasks[i]) {
			list = append(list, seen.instance(&seen.tasks[i]))
		}
	}
	return list
}

// ended tells whether a task has no process and will get none.
func ended(t *swarm.Task) bool {
	switch t.Status.State {
	case swarm.TaskStateComplete, swarm.TaskStateShutdown, swarm.TaskStateFailed,
		swarm.TaskStateRejected, swarm.TaskStateRemove, swarm.TaskStateOrphaned:
		return true
	}
	return false
}

// goes tells whether a task is to end.
func goes(t *swarm.Task) bool {
	switch t.DesiredState {
	case swarm.TaskStateShutdown, swarm.TaskStateRemove, swarm.TaskStateComplete:
		return true
	}
	return false
}

// instance is a task as an instance. A running task is ready: with a health check, the swarm calls
// a task running when the check has passed for the first time, and replaces it when it fails.
func (v *view) instance(t *swarm.Task) targets.Instance {
	instance := targets.Instance{
		Remote:      v.node != "" && t.NodeID != "" && t.NodeID != v.node,
		Identifiers: v.identifiers(t),
	}
	instance.ID = t.ID
	instance.Deleting = goes(t)
	instance.Phase = algorithm.PhasePending
	instance.Ready = algorithm.NotReady
	instance.Containers = []algorithm.Container{{Requests: requests(t.Spec.Resources)}}
	if c := t.Status.ContainerStatus; c != nil {
		instance.ContainerID, instance.PID = c.ContainerID, c.PID
	}
	if t.Status.State == swarm.TaskStateRunning {
		instance.Phase = algorithm.PhaseRunning
		instance.Ready = algorithm.Ready
		instance.Started = t.Status.Timestamp
		instance.ReadyTransition = t.Status.Timestamp
	}
	if instance.Remote {
		instance.PID = 0
	}
	return instance
}

// identifiers are the names that a label of a metric may give a task.
func (v *view) identifiers(t *swarm.Task) []string {
	slot := fmt.Sprintf("%s.%d", v.service.Spec.Name, t.Slot)
	names := []string{t.ID, slot, slot + "." + t.ID}
	if c := t.Status.ContainerStatus; c != nil && len(c.ContainerID) >= 12 {
		names = append(names, c.ContainerID, c.ContainerID[:12])
	}
	if c := t.Spec.ContainerSpec; c != nil && c.Hostname != "" && !strings.Contains(c.Hostname, "{{") {
		names = append(names, c.Hostname)
	}
	names = append(names, v.addresses(t)...)
	slices.Sort(names[1:])
	return slices.Compact(names)
}

// addresses are the task's own ones, alone and with each port that the service publishes.
func (v *view) addresses(t *swarm.Task) []string {
	var names []string
	for _, attachment := range t.NetworksAttachments {
		if attachment.Network.Spec.Name == "ingress" {
			continue // reaches the service, not the task
		}
		for _, text := range attachment.Addresses {
			prefix, err := netip.ParsePrefix(text)
			if err != nil {
				continue
			}
			address := prefix.Addr()
			names = append(names, address.String())
			for _, port := range v.service.Endpoint.Ports {
				names = append(names, netip.AddrPortFrom(address, uint16(port.TargetPort)).String())
			}
		}
	}
	return names
}

// requests are the reservations of a task and, for a resource without one, its limit. What has
// neither is left to the workload's own configuration.
func requests(resources *swarm.ResourceRequirements) []algorithm.Request {
	if resources == nil {
		return nil
	}
	var reserved swarm.Resources
	if resources.Reservations != nil {
		reserved = *resources.Reservations
	}
	var limit swarm.Limit
	if resources.Limits != nil {
		limit = *resources.Limits
	}
	const nanosPerThousandth = 1_000_000
	var list []algorithm.Request
	if nano := firstPositive(reserved.NanoCPUs, limit.NanoCPUs); nano > 0 {
		list = append(list, algorithm.Request{Resource: "cpu", Value: algorithm.Quantity((nano-1)/nanosPerThousandth + 1)})
	}
	if bytes := firstPositive(reserved.MemoryBytes, limit.MemoryBytes); bytes > 0 {
		list = append(list, algorithm.Request{Resource: "memory", Value: algorithm.Quantity(min(bytes, math.MaxInt64/1000) * 1000)})
	}
	return list
}

func firstPositive(a, b int64) int64 {
	if a > 0 {
		return a
	}
	return b
}
