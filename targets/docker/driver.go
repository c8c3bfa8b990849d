// Package docker is the target driver "docker": the containers of a Compose service, or plain
// containers that carry the same labels.
//
// An engine keeps no wanted count and makes no replicas; the driver does both. It clones a template,
// a container that somebody else has made, so that Compose takes a clone for a replica of its own
// (clone.go). What is wanted is the sum of what others run and what the driver has made, so that
// almost nothing must be remembered: the engine's own list is the record (ledger.go). A clone is
// accepted when it is created, and started afterwards; a container that must go is stopped as its
// own stop signal and timeout say, and then removed, both in the background (work.go).
package docker

import (
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// Driver returns the driver.
func Driver() targets.Driver {
	return targets.Driver{Name: "docker", Open: open, KnowsRequests: true, Resource: dockerapi.Resource()}
}

// bindingOptions is the table of a workload's target.
type bindingOptions struct {
	Project string            `toml:"project" doc:"the Compose project; with service"`
	Service string            `toml:"service" doc:"the service of the project"`
	Label   string            `toml:"label" doc:"\"key=value\": plain containers with this label, instead of project and service"`
	Labels  map[string]string `toml:"labels" doc:"plain containers with all of these labels"`
}

func open(env targets.Environment, table options.Table) (targets.Connection, error) {
	decoded := dockerapi.Defaults()
	if err := table.Decode(&decoded); err != nil {
		return nil, err
	}
	engine, err := decoded.Open(env.Log)
	if err != nil {
		return nil, err
	}
	return newConnection(engine, env.Log), nil
}
