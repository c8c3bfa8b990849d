package dockerswarm

import (
	"context"
	"strings"
	"sync"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// connection is one engine that manages a swarm.
type connection struct {
	engine   *dockerapi.Engine
	readings *dockerapi.Readings[view]

	mu   sync.Mutex
	node string // the node the engine is, once known
}

func newConnection(engine *dockerapi.Engine) *connection {
	c := &connection{engine: engine}
	c.readings = dockerapi.NewReadings(c.read)
	return c
}

// Bind reads the table of a workload's target.
func (c *connection) Bind(table options.Table) (targets.Target, error) {
	var decoded bindingOptions
	if err := table.Decode(&decoded); err != nil {
		return nil, err
	}
	name := decoded.Service
	if name == "" || strings.ContainsAny(name, "/?#% \t\n") {
		return nil, options.Errorf("service", "must be the name of a service, is %s", options.Show(name))
	}
	return &target{connection: c, name: name}, nil
}

// Close ends what is under way.
func (c *connection) Close() error {
	c.readings.Close()
	return c.engine.Close()
}

// localNode returns the node that the engine is. It is asked for once, and again after the engine
// could not be read, when it may have become another.
func (c *connection) localNode(ctx context.Context) (string, error) {
	c.mu.Lock()
	node := c.node
	c.mu.Unlock()
	if node != "" {
		return node, nil
	}
	system, err := c.engine.Info(ctx)
	if err != nil {
		return "", err
	}
	c.setNode(system.Swarm.NodeID)
	return system.Swarm.NodeID, nil
}

func (c *connection) setNode(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.node = node
}
