// Package config is hpad's configuration: the main file, the workload files it includes, and
// everything that can be wrong with them, said at once and with the line.
package config

import (
	"time"

	"github.com/hpad/hpad/algorithm"
)

// Config is a whole configuration with every default filled in.
type Config struct {
	// Path is the main file, Files are all files read, the main file first.
	Path  string
	Files []string

	Daemon    Daemon
	Sources   []Driver
	Targets   []Driver
	Workloads []Workload
}

// Daemon is the [daemon] table.
type Daemon struct {
	SyncPeriod time.Duration
	Settings   algorithm.Settings
	// Listen is the TCP address of the HTTP API; empty means none.
	Listen string
	// WebConfigFile is exporter-toolkit's web configuration (TLS, basic auth); empty means none.
	WebConfigFile string
	// Socket is the path of the unix socket over which the HTTP API may also change things; empty
	// means none.
	Socket string
	// StateDir is where hpad keeps what must survive it; empty means nowhere.
	StateDir string
}

// Driver is one [sources.NAME] or [targets.NAME] table, or the one implied by `via = "DRIVER"` or
// `source = "DRIVER"` with the name of a driver and no such table.
type Driver struct {
	Name, Driver string
	Implied      bool
	Options      *Table
}

// Workload is one [[workload]] table.
type Workload struct {
	Name string
	// Via names the [targets.NAME] table, Target holds the rest of `target`.
	Via    string
	Target *Table
	DryRun bool
	// Requests stand in for requests the target does not know of its instances.
	Requests []algorithm.Request
	// Spec is complete. Metrics is parallel to Spec.Metrics.
	Spec    algorithm.Spec
	Metrics []Metric
	// Fingerprint is equal for equal tables under equal Settings, comments and layout aside: a
	// reload leaves a workload alone whose fingerprint, target and sources did not change.
	Fingerprint string

	position position
}

// Problems locates what was found wrong with the workload later than by Load: option errors
// (package options) with keys such as "metric[1].query", and others as about the whole workload.
func (w *Workload) Problems(err error) Problems { return w.position.problems(err) }

// Metric is the part of a [[workload.metric]] table that says where samples come from.
type Metric struct {
	// Source names the [sources.NAME] table; empty for a resource metric measured by the source
	// that belongs to the target's driver.
	Source string
	Query  string
	// Select picks this workload's series out of an answer many workloads share.
	Select map[string]string
	// InstanceLabel, for type instances, is the label matched against the instances' identifiers.
	InstanceLabel string
	// MaxAge is how old a sample may be; checked against its own time with CheckTimestamp.
	MaxAge         time.Duration
	CheckTimestamp bool
}
