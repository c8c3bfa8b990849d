// Package jsontarget is what the drivers "exec" and "webhook" have in common: a target that is
// spoken to in JSON, whoever carries the words. docs/contract-json.md is the contract as its other
// side reads it.
//
// The other side may be a dozen lines of shell, so the target does itself what such a script
// forgets: it reads before it writes, writes nothing that is so already, and refuses what is
// missing, negative or absurd, which is never a zero.
package jsontarget

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/hpad/hpad/targets"
)

// Carrier carries a request to the other side and brings back its answer.
type Carrier interface {
	// Carry returns the status of a status request. Errors are those of package targets. An error
	// of a set request that may have reached the other side, and got no answer that can be
	// understood, is Uncertain.
	Carry(ctx context.Context, r *Request) (*Status, error)
	// Namespace begins the ID of every target: the driver and who it speaks to.
	Namespace() string
}

// Target is one workload's target. It implements targets.Target.
type Target struct {
	carrier Carrier
	opts    Options
}

// New returns the target that the options of a workload's target mean.
func New(c Carrier, o Options) *Target { return &Target{carrier: c, opts: o} }

// ID is the carrier's namespace and the name.
func (t *Target) ID() string { return t.carrier.Namespace() + "/" + t.opts.Name }

// Close has nothing to release.
func (t *Target) Close() error { return nil }

// Status asks for the status.
func (t *Target) Status(ctx context.Context) (targets.Status, error) {
	status, err := t.carrier.Carry(ctx, t.request(OperationStatus))
	if err != nil {
		return targets.Status{}, t.failure("cannot read target", err)
	}
	return status.convert(), nil
}

// SetReplicas asks for the status again, since a script may not compare what it is told with what
// there is, and then for the change. A change by somebody else between the two is for the other
// side to notice, from what goes with the request.
func (t *Target) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	if replicas < 0 || replicas > MaxReplicas {
		return targets.Errorf(targets.OutOfRange, "cannot scale target %q to %d replicas, must be 0 … %d", t.opts.Name, replicas, MaxReplicas)
	}
	now, err := t.Status(ctx)
	if err != nil {
		return err
	}
	if now.SpecReplicas == replicas {
		return nil
	}
	if now.SpecReplicas != from.SpecReplicas || now.Version != from.Version {
		return targets.Errorf(targets.Conflict, "cannot scale target %q: it was changed since it was read", t.opts.Name)
	}
	if block := now.Blocked(replicas); block != nil {
		return targets.Errorf(targets.Busy, "cannot scale target %q: %s", t.opts.Name, block.Message)
	}
	r := t.request(OperationSet)
	r.FromVersion, r.FromReplicas, r.Replicas = &from.Version, &from.SpecReplicas, &replicas
	r.RequestID = rand.Text()
	if _, err := t.carrier.Carry(ctx, r); err != nil {
		return t.failure("cannot scale target", err)
	}
	return nil
}

func (t *Target) request(operation string) *Request {
	return &Request{Version: ContractVersion, Operation: operation, Target: t.opts.Name, Parameters: t.opts.Parameters}
}

// failure says which target an error is about, and keeps its class.
func (t *Target) failure(what string, err error) error {
	class := targets.ClassOf(err, false)
	wrapped := &targets.Error{Class: class, Err: fmt.Errorf("%s %q: %w", what, t.opts.Name, err)}
	wrapped.RetryAfter = retryAfter(err)
	return wrapped
}
