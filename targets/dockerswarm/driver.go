// Package dockerswarm is the target driver "docker-swarm": the replicas of a service of a Docker
// swarm.
//
// A swarm has its own opinion on three things, which shape the driver. A service that is being
// updated or rolled back must not be scaled, since that destroys what a rollback would return to;
// the driver reports a block (guards.go). A write with the replicas it already has is not a
// no-op; the driver never makes one. A specification that went through this program's structs
// would lose what they do not know; the driver changes one number in the text it read (write.go).
package dockerswarm

import (
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// Driver returns the driver.
func Driver() targets.Driver {
	return targets.Driver{Name: "docker-swarm", Open: open, KnowsRequests: true, Resource: dockerapi.Resource()}
}

// bindingOptions is the table of a workload's target.
type bindingOptions struct {
	Service string `toml:"service"`
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
	return newConnection(engine), nil
}
