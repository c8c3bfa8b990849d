// Package targets is the contract between hpad and what it scales.
//
// A Driver knows one technology. Opened with a [targets.NAME] table it yields a Connection (an
// engine, a cluster, an account); a Connection binds the target table of one workload to a Target,
// which speaks what Kubernetes calls the Scale subresource: read spec and status replicas with the
// instances, set spec replicas.
//
// Above the contract, once for all drivers: deadlines, concurrency limits, retries (the next
// evaluation is the retry), logging of returned errors, metrics, dry run. A driver does none of
// these. Every driver passes the kit in targets/targettest.
package targets

import (
	"context"
	"log/slog"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
)

// Driver is the code for one technology. It is a value; the built-in ones are listed by hand.
type Driver struct {
	// Name is the word after `driver =`.
	Name string
	// Open reads the table of one [targets.NAME]. It checks everything it can offline and touches
	// no network: a dead engine must not keep hpad from starting. Problems with the table are
	// option errors (package options), all of them joined.
	Open func(Environment, options.Table) (Connection, error)
	// Resource is the source that measures the instances of this driver's targets when a resource
	// metric names none; the zero value means that there is none.
	Resource ResourceSource
	// KnowsRequests is true if the instances can say what they request. If they never can, a
	// utilization needs the requests of the configuration.
	KnowsRequests bool
}

// ResourceSource names a source driver, and the keys of the target's table it is opened with.
type ResourceSource struct {
	Driver string
	Keys   []string
}

// Environment is what hpad gives every driver.
type Environment struct {
	Log *slog.Logger
}

// Connection is one opened [targets.NAME].
type Connection interface {
	// Bind reads the target table of one workload (without `via`), offline as Open.
	Bind(options.Table) (Target, error)
	// Close releases everything. It is called once, after every Target is closed.
	Close() error
}

// Target is one workload's scalable thing. Its methods are safe for concurrent use; hpad never
// runs two SetReplicas of one Target at once. They return soon after ctx ends.
type Target interface {
	// ID is canonical: two tables that mean the same thing have the same ID, whatever way they
	// are written. hpad refuses two workloads with one ID.
	ID() string
	// Status reads the truth. Errors are made with Errorf of this package.
	Status(ctx context.Context) (Status, error)
	// SetReplicas asks for an absolute count, based on the Status the decision was made from. It
	// returns once the platform has accepted, without waiting for instances. Asking for what is
	// already so changes nothing. If the target was changed since `from` was read it writes
	// nothing and returns Conflict. It never half-applies.
	SetReplicas(ctx context.Context, from Status, replicas int32) error
	// Close releases what Bind made. What runs keeps running, unless hpad itself runs it.
	Close() error
}

// Status is what Target.Status saw.
type Status struct {
	// SpecReplicas is the count somebody asked for last, StatusReplicas the count that exists.
	SpecReplicas, StatusReplicas int32
	Instances                    []Instance
	// Version is the driver's own: whatever SetReplicas needs to notice a change since.
	Version string
	// Blocks say which directions must wait, and why: a rollout, a rollback.
	Blocks []Block
	// Warnings are what an operator should know and cannot see elsewhere ("2 tasks are
	// unschedulable: …").
	Warnings []string
}

// Blocked returns the first block of a change of the replicas from SpecReplicas to n, or nil.
func (s *Status) Blocked(n int32) *Block {
	for i, b := range s.Blocks {
		if b.Up && n > s.SpecReplicas || b.Down && n < s.SpecReplicas {
			return &s.Blocks[i]
		}
	}
	return nil
}

// Block says that a direction must wait. It is a state of the target, not an error.
type Block struct {
	Up, Down bool
	// Reason is a CamelCase word ("UpdateInProgress"), Message a sentence for people.
	Reason, Message string
}

// Instance is an instance with what sources need to find its samples.
type Instance struct {
	algorithm.Instance
	// Identifiers are all names under which a metric's label may mean this instance, its ID
	// included: id, short id, name, host name, addresses with and without port.
	Identifiers []string
	// ContainerID is the full id of the container that is the instance, if it is one.
	ContainerID string
	// PID is the main process of the instance on this machine; 0 if unknown or elsewhere.
	PID int
	// Cgroup is the path of the instance's control group on this machine, below the root of the
	// hierarchies ("/system.slice/app@1.service"); empty if it has none of its own, or unknown.
	Cgroup string
	// Remote is true if the instance is known to run on another machine than its engine's API.
	Remote bool
}

// Activator is implemented by targets that hpad itself runs: Activate is called once the
// configuration that holds the target is in force, never during a check.
type Activator interface {
	Activate(ctx context.Context) error
}
