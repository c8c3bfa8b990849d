package systemd

import (
	"context"

	"github.com/hpad/hpad/targets"
)

// replaceJobs is the mode in which a job takes the place of one that is in its way.
const replaceJobs = "replace"

// step is one request that changes something.
type step struct {
	method string
	args   []any
}

// SetReplicas starts or stops as many units as are missing or too many. systemd accepts one unit
// at a time: if it refuses one after it took another, the outcome is uncertain, to be read back.
func (t *target) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	if replicas < 0 {
		return targets.Errorf(targets.Invalid, "cannot scale %q to %d replicas", t.name, replicas)
	}
	views, err := t.connection.survey(ctx, []string{t.name})
	if err != nil {
		return t.writeError(false, err)
	}
	seen := views[t.name]
	if err := t.check(seen); err != nil {
		return err
	}
	units := t.own(seen)
	wanted := wantedOf(units)
	if int(replicas) == len(wanted) {
		return nil
	}
	if from.Version != versionOf(wanted) {
		return targets.Errorf(targets.Conflict, "cannot scale %q: units were started or stopped since it was read", t.name)
	}
	now := targets.Status{SpecReplicas: int32(len(wanted)), Blocks: t.blocks(units)}
	if block := now.Blocked(replicas); block != nil {
		return targets.Errorf(targets.Busy, "cannot scale %q: %s", t.name, block.Message)
	}
	steps, err := t.steps(units, wanted, replicas)
	if err != nil {
		return err
	}
	return t.take(ctx, steps)
}

// steps are the requests that lead from what is wanted to the replicas.
func (t *target) steps(units, wanted []unit, replicas int32) ([]step, error) {
	missing := int(replicas) - len(wanted)
	if missing < 0 {
		return stops(victims(wanted, -missing)), nil
	}
	if capacity := int64(t.last) - int64(t.first) + 1; int64(replicas) > capacity {
		return nil, targets.Errorf(targets.OutOfRange, "cannot scale %q to %d replicas: there are %d numbers from %d to %d", t.name, replicas, capacity, t.first, t.last)
	}
	indexes := free(units, t.first, t.last, missing)
	if len(indexes) < missing {
		return nil, targets.Errorf(targets.Busy, "cannot scale %q to %d replicas: units that still stop have the numbers it needs", t.name, replicas)
	}
	steps := make([]step, len(indexes))
	for i, index := range indexes {
		steps[i] = step{"StartUnit", []any{instanceName(t.name, index), replaceJobs}}
	}
	return steps, nil
}

// stops also reset what failed, which a stop alone leaves as it is.
func stops(units []unit) []step {
	var steps []step
	for i := range units {
		if units[i].failed() {
			steps = append(steps, step{"ResetFailedUnit", []any{units[i].name}})
			continue
		}
		steps = append(steps, step{"StopUnit", []any{units[i].name, replaceJobs}})
	}
	return steps
}

func (t *target) take(ctx context.Context, steps []step) error {
	for i, s := range steps {
		if err := ctx.Err(); err != nil && i == 0 {
			return t.writeError(false, err)
		}
		_, sent, err := t.connection.bus.call(ctx, managerPath, managerInterface+"."+s.method, s.args...)
		if err != nil && i > 0 {
			return targets.Errorf(targets.Uncertain, "cannot scale %q by more than %d of %d units: %w", t.name, i, len(steps), t.writeError(sent, err))
		}
		if err != nil {
			return t.writeError(sent, err)
		}
	}
	return nil
}
