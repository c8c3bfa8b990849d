package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// target is the containers that a selector selects.
type target struct {
	connection *connection
	selector   *selector
	ledger     *ledger
}

// ID is "docker:" with the engine's address and what selects the containers.
func (t *target) ID() string {
	return "docker:" + t.connection.engine.Host.String() + "/" + t.selector.id()
}

// Close has nothing to release: what was begun for the target goes on until its connection ends.
func (t *target) Close() error { return nil }

// Status reads the containers. SpecReplicas is the count of the containers that others run and of
// the slots that hpad keeps; StatusReplicas counts the containers that exist and are to stay,
// whatever they have achieved so far, as the status.replicas of a Kubernetes ReplicaSet does.
func (t *target) Status(ctx context.Context) (targets.Status, error) {
	s, err := t.look(ctx)
	if err != nil {
		return targets.Status{}, err
	}
	t.repair(s)
	kind, _ := t.connection.engineKind(ctx) // known by now
	status := targets.Status{
		SpecReplicas:   int32(s.wanted),
		StatusReplicas: int32(len(s.live)),
		Version:        s.version(),
		Instances:      t.ledger.instances(s),
		Blocks:         t.ledger.blocks(s),
		Warnings:       s.warnings(kind),
	}
	if failure := t.ledger.lastFailure(s.now); failure != "" {
		status.Warnings = append(status.Warnings, failure)
	}
	return status, nil
}

// look reads the target and checks that it can be scaled.
func (t *target) look(ctx context.Context) (*scene, error) {
	c := t.connection
	members, begun, _, err := c.readings.Get(ctx, t.selector.id())
	if err != nil {
		class, hint := dockerapi.ClassOf(err)
		return nil, c.engine.Errorf(class, "cannot read the containers of", t.selector.String(), err, hint)
	}
	kind, err := c.engineKind(ctx)
	if err != nil {
		class, hint := dockerapi.ClassOf(err)
		return nil, c.engine.Errorf(class, "cannot read the containers of", t.selector.String(), err, hint)
	}
	s := t.ledger.sort(members, begun, time.Now())
	if err := t.check(s, kind); err != nil {
		if s.template == nil {
			t.ledger.clear()
		}
		return nil, err
	}
	return s, nil
}

// version changes whenever a container comes or goes.
func (s *scene) version() string {
	ids := make([]string, 0, len(s.live))
	for _, m := range s.live {
		ids = append(ids, m.id)
	}
	slices.Sort(ids)
	sum := sha256.Sum256(fmt.Append(nil, s.wanted, ids))
	return hex.EncodeToString(sum[:8])
}
