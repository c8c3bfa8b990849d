package dockerswarm

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/client"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// connection is one engine that manages a swarm.
type connection struct {
	host      host
	scheme    string // of requests: "http" or "https"
	engine    *client.Client
	timeout   time.Duration
	inventory *inventory

	mu   sync.Mutex
	node string // the node the engine is, once known
}

func newConnection(h host, scheme string, engine *client.Client, timeout time.Duration) *connection {
	c := &connection{host: h, scheme: scheme, engine: engine, timeout: timeout}
	c.inventory = newInventory(c.read)
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
	c.inventory.close()
	return c.engine.Close()
}

// limit bounds a request by the connection's timeout.
func (c *connection) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
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
