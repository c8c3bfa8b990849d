package dockerswarm

import (
	"context"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/targets"
)

// target is a service by its name.
type target struct {
	connection *connection
	name       string
}

// ID is "docker-swarm:" with the engine's address and the name. Two managers of one swarm look
// like two swarms.
func (t *target) ID() string {
	return "docker-swarm:" + t.connection.engine.Host.String() + "/" + t.name
}

// Close has nothing to release.
func (t *target) Close() error { return nil }

// Status reads the service and its tasks. StatusReplicas counts the tasks that exist and are to
// run, whatever they have achieved so far, as the status.replicas of a Kubernetes ReplicaSet does.
func (t *target) Status(ctx context.Context) (targets.Status, error) {
	seen, _, ok, err := t.connection.readings.Get(ctx, t.name)
	if err != nil {
		return targets.Status{}, t.connection.readError(t.name, err)
	}
	if !ok {
		return targets.Status{}, missing(t.name)
	}
	if err := t.check(&seen.service); err != nil {
		return targets.Status{}, err
	}
	status := targets.Status{
		SpecReplicas: replicasOf(&seen.service),
		Version:      strconv.FormatUint(seen.service.Version.Index, 10),
		Instances:    instances(&seen),
		Blocks:       updateBlocks(&seen.service, time.Now()),
	}
	for i := range status.Instances {
		if !status.Instances[i].Deleting {
			status.StatusReplicas++
		}
	}
	if reasons := unplaced(seen.tasks); len(reasons) > 0 {
		status.Warnings = append(status.Warnings, reasons...)
		status.Blocks = append(status.Blocks, targets.Block{Up: true, Reason: unschedulable, Message: reasons[0]})
	}
	return status, nil
}

// check refuses what was found by an ID instead of the name, and what cannot be scaled.
func (t *target) check(service *swarm.Service) error {
	if service.Spec.Name != t.name {
		return targets.Errorf(targets.Invalid, "cannot scale service %q: this is an id, write the name %q", t.name, service.Spec.Name)
	}
	mode := "unknown"
	switch m := service.Spec.Mode; {
	case m.Replicated != nil:
		return nil
	case m.Global != nil:
		mode = "global"
	case m.ReplicatedJob != nil:
		mode = "replicated-job"
	case m.GlobalJob != nil:
		mode = "global-job"
	}
	return targets.Errorf(targets.Invalid, "cannot scale service %q: its mode is %s, must be replicated", t.name, mode)
}

// replicasOf returns the wanted count. The engine's own default is 1.
func replicasOf(service *swarm.Service) int32 {
	if n := service.Spec.Mode.Replicated.Replicas; n != nil {
		return int32(min(*n, 1<<31-1))
	}
	return 1
}
