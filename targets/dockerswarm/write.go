package dockerswarm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/targets"
)

// SetReplicas updates the service. The version of from goes with the update, so that the swarm
// itself refuses it if anybody has changed the service since.
func (t *target) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	if replicas < 0 {
		return targets.Errorf(targets.Invalid, "cannot scale service %q to %d replicas", t.name, replicas)
	}
	c := t.connection
	ctx, cancel := c.engine.Limit(ctx)
	defer cancel()
	// Not with defaults inserted: written back they would differ from those of every running task,
	// and the swarm would replace all of them.
	service, raw, err := c.engine.ServiceInspectWithRaw(ctx, t.name, swarm.ServiceInspectOptions{InsertDefaults: false})
	if err != nil {
		if class, _ := classOf(err); class == targets.NotFound {
			return missing(t.name)
		}
		return c.writeError(t.name, false, err)
	}
	if err := t.check(&service); err != nil {
		return err
	}
	if replicasOf(&service) == replicas {
		return nil // even an update that changes nothing replaces what a rollback returns to
	}
	if err := t.refuse(&service, from, replicas); err != nil {
		return err
	}
	spec, err := withReplicas(raw, replicas)
	if err != nil {
		return targets.Errorf(targets.Unavailable, "cannot scale service %q: %w", t.name, err)
	}
	return t.update(ctx, &service, spec)
}

// refuse returns the error of a change that must not be made now. What from saw of the tasks is
// trusted; what it saw of the service is checked by its version.
func (t *target) refuse(service *swarm.Service, from targets.Status, replicas int32) error {
	if from.Version != strconv.FormatUint(service.Version.Index, 10) {
		return targets.Errorf(targets.Conflict, "cannot scale service %q: it was changed since it was read", t.name)
	}
	if blocks := updateBlocks(service, time.Now()); len(blocks) > 0 {
		return targets.Errorf(targets.Busy, "cannot scale service %q: %s", t.name, blocks[0].Message)
	}
	block := from.Blocked(replicas)
	if block == nil {
		return nil
	}
	class := targets.Busy
	if block.Reason == unschedulable {
		class = targets.Capacity
	}
	return targets.Errorf(class, "cannot scale service %q: %s", t.name, block.Message)
}

// withReplicas returns the specification in the text of a service with another count. Everything
// else stays as it was written, known to this program or not.
func withReplicas(service []byte, replicas int32) ([]byte, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(service, &whole); err != nil {
		return nil, fmt.Errorf("the engine's answer is not JSON: %w", err)
	}
	number := json.RawMessage(strconv.Itoa(int(replicas)))
	return replaced(whole["Spec"], number, "Mode", "Replicated", "Replicas")
}

// replaced returns the JSON object text with another value at the path.
func replaced(text, value json.RawMessage, path ...string) (json.RawMessage, error) {
	if len(path) == 0 {
		return value, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, fmt.Errorf("the engine's answer holds no object with %q", path[0])
	}
	inner, err := replaced(object[path[0]], value, path[1:]...)
	if err != nil {
		return nil, err
	}
	object[path[0]] = inner
	return json.Marshal(object)
}

// update sends the specification. With it goes the version that was read, which the swarm checks.
func (t *target) update(ctx context.Context, service *swarm.Service, spec []byte) error {
	version := url.Values{"version": {strconv.FormatUint(service.Version.Index, 10)}}
	_, sent, err := t.connection.engine.Post(ctx, "/services/"+service.ID+"/update", version, spec)
	if err != nil {
		return t.connection.writeError(t.name, sent, err)
	}
	return nil
}
