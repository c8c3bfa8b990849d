// Package sources is the contract between hpad and where samples come from.
//
// A Driver knows one technology. Opened with a [sources.NAME] table it yields a Source, which can
// do one of two things, or both: answer queries (Querier), or measure the resources of instances
// (ResourceReader).
//
// An answer is never made up: empty, NaN, infinite, too old, unauthorised, garbled are errors
// (with their Kind), never zero. Above the contract, once for all drivers: deadlines, sharing of
// equal queries (Shared), logging of returned errors, metrics.
package sources

import (
	"context"
	"log/slog"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// Driver is the code for one technology. It is a value; the built-in ones are listed by hand.
type Driver struct {
	// Name is the word after `driver =`.
	Name string
	// Open reads the table of one [sources.NAME], offline; option errors are joined.
	Open func(Environment, options.Table) (Source, error)
}

// Environment is what hpad gives every driver.
type Environment struct {
	Log *slog.Logger
}

// Source is an opened [sources.NAME]. It implements Querier or ResourceReader, or both. Methods
// are safe for concurrent use and return soon after ctx ends.
type Source interface {
	Close() error
}

// Querier answers queries.
type Querier interface {
	// Query evaluates q as of the time `at`.
	Query(ctx context.Context, q Query, at time.Time) (*Result, error)
}

// Query is a question in the source's own language. Equal Queries are asked once per evaluation
// time, whatever the number of workloads.
type Query struct {
	Text string
	// CheckTimestamp asks for the samples' own times, where the language would otherwise give the
	// time of the evaluation (Prometheus: timestamp()).
	CheckTimestamp bool
}

// QueryChecker is implemented by Queriers that can tell offline that a query cannot work. Its
// message names what is wrong and where.
type QueryChecker interface {
	CheckQuery(q Query) error
}

// ResourceReader measures instances.
type ResourceReader interface {
	// ReadResource returns one sample per instance, parallel to instances; instances that cannot
	// be measured (yet) have no sample (Present false). It fails only if nothing can be said of
	// any. Resource is "cpu" (cores) or "memory" (working set in bytes); container is empty for
	// the whole instance.
	ReadResource(ctx context.Context, resource, container string, instances []targets.Instance, at time.Time) ([]algorithm.Sample, error)
}
