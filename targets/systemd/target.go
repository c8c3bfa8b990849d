package systemd

import (
	"context"
	"fmt"
	"strings"

	"github.com/hpad/hpad/targets"
)

// target is the instances of a template whose numbers are in a range.
type target struct {
	connection  *connection
	name        string // with suffix
	first, last int32
}

// ID is "systemd:" with the bus and the template. Tables with other ranges mean the same target.
func (t *target) ID() string { return "systemd:" + t.connection.bus.address + "/" + t.name }

// Close has nothing to release.
func (t *target) Close() error { return nil }

// Status counts the units that somebody has started and not stopped, as spec and as status
// replicas: systemd knows no other wanted count than what there is.
func (t *target) Status(ctx context.Context) (targets.Status, error) {
	seen, _, _, err := t.connection.readings.Get(ctx, t.name)
	if err != nil {
		return targets.Status{}, t.readError(err)
	}
	if err := t.check(seen); err != nil {
		return targets.Status{}, err
	}
	units := t.own(seen)
	wanted := wantedOf(units)
	status := targets.Status{
		SpecReplicas:   int32(len(wanted)),
		StatusReplicas: int32(len(wanted)),
		Version:        versionOf(wanted),
		Blocks:         t.blocks(units),
		Warnings:       warnings(wanted),
	}
	for i := range units {
		if units[i].exists() {
			status.Instances = append(status.Instances, units[i].instance())
		}
	}
	return status, nil
}

// own are the units in the target's range. Others are none of hpad's business.
func (t *target) own(v view) []unit {
	var units []unit
	for i := range v.units {
		if index := v.units[i].index; index >= t.first && index <= t.last {
			units = append(units, v.units[i])
		}
	}
	return units
}

// The states in which systemd has a unit's file.
const (
	loaded   = "loaded"
	merged   = "merged" // with the unit of another name
	notFound = "not-found"
	masked   = "masked"
)

// check refuses a template of which no unit can be started.
func (t *target) check(v view) error {
	switch v.state {
	case loaded, merged:
		return nil
	case notFound:
		return targets.Errorf(targets.NotFound, "there is no template unit %q at %v", t.name, t.connection)
	case masked:
		return targets.Errorf(targets.NotFound, "cannot scale %q at %v: it is masked (systemctl unmask)", t.name, t.connection)
	}
	return targets.Errorf(targets.Invalid, "cannot scale %q at %v: its state is %q: %s", t.name, t.connection, v.state, v.fault)
}

const jobQueued = "JobQueued"

// blocks hold both directions while somebody restarts or reloads units: stopping one would end
// their rollout halfway. Starts and stops that wait for other units hold their own direction.
func (t *target) blocks(units []unit) []targets.Block {
	var blocks []targets.Block
	add := func(u *unit, up, down bool) {
		message := fmt.Sprintf("systemd has a %s of %q in its queue", u.job, u.name)
		blocks = append(blocks, targets.Block{Up: up, Down: down, Reason: jobQueued, Message: message})
	}
	for i := range units {
		switch u := &units[i]; {
		case u.job == "" || u.job == "nop":
		case u.job == "start":
			if u.active == "inactive" || u.active == "failed" {
				add(u, true, false)
			}
		case u.job == "stop":
			if u.active == "active" {
				add(u, false, true)
			}
		default:
			add(u, true, true)
		}
	}
	return blocks
}

func warnings(wanted []unit) []string {
	var names []string
	for i := range wanted {
		if u := &wanted[i]; u.failed() {
			names = append(names, fmt.Sprintf("%s (%s)", u.name, u.properties.result))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d failed and systemd does not restart them: %s", len(names), strings.Join(names, ", "))}
}
