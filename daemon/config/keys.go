package config

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
)

// These are the tables as they are written. Each has a function that fills in the defaults before
// the file is decoded on top; docs/configuration.md is made from both.

type mainKeys struct {
	Include  []string   `toml:"include" doc:"Files with more workloads: paths or patterns (\"workloads.d/*.toml\"), relative to this file. They are read in the order of their names; files that begin with a dot or end in ~, .dpkg-*, .rpmnew or .rpmsave are passed over. A pattern may match nothing, a file named without a pattern must exist. An included file holds [[workload]] tables only."`
	Daemon   rawTable   `toml:"daemon" doc:"Settings of the daemon, see below."`
	Sources  rawTable   `toml:"sources" doc:"One table [sources.NAME] per source, see below. The options beside driver are those of the driver."`
	Targets  rawTable   `toml:"targets" doc:"One table [targets.NAME] per engine, cluster or account, see below. The options beside driver are those of the driver."`
	Workload []rawTable `toml:"workload" doc:"One table [[workload]] per workload, see below."`
}

type includedKeys struct {
	Workload []rawTable `toml:"workload"`
}

type daemonKeys struct {
	SyncPeriod              time.Duration `toml:"sync_period" doc:"The time from one evaluation of a workload to the next; 1s to 5m."`
	Tolerance               float64       `toml:"tolerance" doc:"The distance of the usage ratio from 1 within which nothing changes: 0.1 is 10 %."`
	DownscaleStabilization  time.Duration `toml:"downscale_stabilization" doc:"The stabilization window of scaling down of workloads that set none."`
	CPUInitializationPeriod time.Duration `toml:"cpu_initialization_period" doc:"For so long after its start, CPU samples of an instance count only if it is ready and the sample was taken entirely after it became so."`
	InitialReadinessDelay   time.Duration `toml:"initial_readiness_delay" doc:"For so long after its start, an instance that is not ready counts as not yet ready."`
	Listen                  string        `toml:"listen" doc:"The TCP address of the HTTP API, metrics and page; empty for none."`
	WebConfigFile           options.Path  `toml:"web_config_file" doc:"A web configuration file as all Prometheus exporters take it: TLS and users."`
	Socket                  options.Path  `toml:"socket" doc:"The unix socket over which the hpad command may also change things; empty for none. Under systemd it is in the unit's runtime directory."`
	StateDir                options.Path  `toml:"state_dir" doc:"The folder of what must survive a restart (see state.md); empty for none. A change takes a restart of hpad. Under systemd the default is the unit's state directory."`
}

func defaultDaemon() daemonKeys {
	s := algorithm.DefaultSettings()
	return daemonKeys{
		SyncPeriod:              15 * time.Second,
		Tolerance:               s.Tolerance,
		DownscaleStabilization:  s.DownscaleStabilization,
		CPUInitializationPeriod: s.CPUInitializationPeriod,
		InitialReadinessDelay:   s.InitialReadinessDelay,
		Listen:                  "127.0.0.1:9872",
		Socket:                  "/run/hpad/hpad.sock",
	}
}

// driverKeys only stands in the reference: the rest of such a table is the driver's.
type driverKeys struct {
	Driver string `toml:"driver" doc:"The technology. Required."`
}

type workloadKeys struct {
	Name        string             `toml:"name" doc:"Names the workload in commands, logs and metrics: lower-case letters, digits, '-', '_' and '.', at most 63. Required, and unique."`
	Target      map[string]any     `toml:"target" doc:"What is scaled: via names a [targets.NAME] table, or a driver that needs no such table; the rest are options of the driver. Required, and not the target of another workload."`
	MinReplicas int32              `toml:"min_replicas" doc:"The least replicas; at least 1, or 0 with scale_to_zero."`
	MaxReplicas *int32             `toml:"max_replicas" doc:"The most replicas. Required."`
	ScaleToZero bool               `toml:"scale_to_zero" doc:"Allows min_replicas = 0, if an object or external metric can tell when to start again."`
	DryRun      bool               `toml:"dry_run" doc:"Decide and report, but leave the target alone."`
	Requests    map[string]decimal `toml:"requests" doc:"What one instance reserves, by resource: { cpu = \"500m\", memory = \"512Mi\" }. It stands in for what the target does not know; an average utilization is a percentage of it."`
	Metric      []rawTable         `toml:"metric" doc:"One table [[workload.metric]] per metric, see below. The metric that asks for the most replicas decides. Without any, it is CPU at 80 % of the request."`
	Behavior    rawTable           `toml:"behavior" doc:"How fast the replicas may change, see below. Any behavior, be it empty, is not the same as none: without, scaling up goes to the larger of 4 and twice the spec replicas at once; with, by the policies given or their defaults."`
}

func defaultWorkload() workloadKeys { return workloadKeys{MinReplicas: 1} }

type metricKeys struct {
	Type      string `toml:"type" doc:"What is measured: resource (CPU or memory of the instances), container_resource (of one container of each), instances (a number per instance), object (one number), external (one or more numbers that are added). Required."`
	Name      string `toml:"name" doc:"The resource (\"cpu\", \"memory\"), or the name of the metric in commands and hpad's own metrics. Required."`
	Container string `toml:"container" doc:"The container that is measured; for container_resource, and required there."`
	Object    string `toml:"object" doc:"What the number describes, for messages (\"Ingress/main\"); for object, and required there."`

	Source        string            `toml:"source" doc:"A [sources.NAME] table, or a source driver that needs no such table. Required but for resource and container_resource, which the target measures itself if there is none."`
	Query         string            `toml:"query" doc:"The question in the source's language; for instances, object and external, and required there."`
	Select        map[string]string `toml:"select" doc:"Labels that pick this workload's series from the answer: many workloads can share one query."`
	InstanceLabel string            `toml:"instance_label" doc:"The label that says which instance a series belongs to, by its id, name or address; for instances."`

	MaxAge         time.Duration `toml:"max_age" doc:"How old a sample may be before the metric fails."`
	CheckTimestamp bool          `toml:"check_timestamp" doc:"Ask the source for the samples' own times, to which max_age is applied; without it, old samples are the source's to leave out."`

	Value              *decimal `toml:"value" doc:"Target value of the metric itself; for object and external."`
	AverageValue       *decimal `toml:"average_value" doc:"Target value of the metric divided by the replicas; for all types."`
	AverageUtilization *int32   `toml:"average_utilization" doc:"Target value in percent of the request; for resource and container_resource."`
}

func defaultMetric() metricKeys {
	return metricKeys{InstanceLabel: "instance", MaxAge: 2 * time.Minute}
}

type behaviorKeys struct {
	ScaleUp   rulesKeys `toml:"scale_up" doc:"Rules for more replicas."`
	ScaleDown rulesKeys `toml:"scale_down" doc:"Rules for fewer replicas."`
}

type rulesKeys struct {
	StabilizationWindow *time.Duration `toml:"stabilization_window" doc:"Scaling up goes no higher than the lowest, scaling down no lower than the highest recommendation of this long; at most 1h. Default: 0s up, the daemon's downscale_stabilization down."`
	SelectPolicy        string         `toml:"select_policy" doc:"Of several policies, the one that applies is the one that lets the replicas change most (max) or least (min); disabled stops this direction. Default: max."`
	Tolerance           *decimal       `toml:"tolerance" doc:"The tolerance in this direction. Default: the daemon's."`
	Policies            []policyKeys   `toml:"policies" doc:"Limits of the rate of change. Default: up by 4 instances or 100 percent, down by 100 percent, per 15s."`
}

type policyKeys struct {
	Type   string         `toml:"type" doc:"The unit of value: instances or percent (of the replicas at the begin of the period). Required."`
	Value  *int32         `toml:"value" doc:"How much may change in one period; more than 0. Required."`
	Period *time.Duration `toml:"period" doc:"1s to 30m, whole seconds. Required."`
}

// rawTable is a table that is decoded later, as one with a name of its own.
type rawTable map[string]any

// OptionType says what may be written.
func (rawTable) OptionType() string { return "a table" }

// UnmarshalTOML takes any table.
func (r *rawTable) UnmarshalTOML(x any) error {
	table, ok := x.(map[string]any)
	if !ok {
		return fmt.Errorf("must be a table, is %s", options.Show(x))
	}
	*r = table
	return nil
}

// decimal is the text of a number: floats would lose what was written.
type decimal string

// OptionType says what may be written.
func (decimal) OptionType() string { return "a number or quantity" }

// UnmarshalTOML takes numbers and strings.
func (d *decimal) UnmarshalTOML(x any) error {
	switch v := x.(type) {
	case string:
		*d = decimal(v)
	case int64:
		*d = decimal(strconv.FormatInt(v, 10))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("must be a finite number, is %s", options.Show(x))
		}
		*d = decimal(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return fmt.Errorf(`must be a number or a quantity such as "250m", is %s`, options.Show(x))
	}
	return nil
}
