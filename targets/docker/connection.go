package docker

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// connection is one engine.
type connection struct {
	engine   *dockerapi.Engine
	log      *slog.Logger
	readings *dockerapi.Readings[[]*member]
	work     *work

	mu        sync.Mutex
	selectors map[string]*selector // by id
	ledgers   map[string]*ledger   // by id
	kind      engineKind
}

// engineKind tells engines apart that answer differently.
type engineKind uint8

const (
	engineUnknown engineKind = iota
	engineDocker
	enginePodman
)

func newConnection(engine *dockerapi.Engine, log *slog.Logger) *connection {
	c := &connection{engine: engine, log: log, selectors: map[string]*selector{}, ledgers: map[string]*ledger{}}
	c.readings = dockerapi.NewReadings(c.read)
	c.work = newWork()
	return c
}

// Bind reads the table of a workload's target. Targets that mean the same share what is remembered
// of it, so that a target bound anew knows what its predecessor had begun.
func (c *connection) Bind(table options.Table) (targets.Target, error) {
	var decoded bindingOptions
	if err := table.Decode(&decoded); err != nil {
		return nil, err
	}
	s, err := decoded.selector()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := s.id()
	c.selectors[id] = s
	if c.ledgers[id] == nil {
		c.ledgers[id] = newLedger()
	}
	return &target{connection: c, selector: s, ledger: c.ledgers[id]}, nil
}

// Close ends what is under way. The engine finishes a stop that it was asked for; a clone that was
// not started yet is found again by the next hpad.
func (c *connection) Close() error {
	c.work.close()
	c.readings.Close()
	return c.engine.Close()
}

// engineKind asks once what the engine is.
func (c *connection) engineKind(ctx context.Context) (engineKind, error) {
	c.mu.Lock()
	kind := c.kind
	c.mu.Unlock()
	if kind != engineUnknown {
		return kind, nil
	}
	version, err := c.engine.ServerVersion(ctx)
	if err != nil {
		return engineUnknown, err
	}
	kind = engineDocker
	for i := range version.Components {
		if version.Components[i].Name == "Podman Engine" {
			kind = enginePodman
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kind = kind
	return kind, nil
}

func (c *connection) selected(ids []string) map[string]*selector {
	c.mu.Lock()
	defer c.mu.Unlock()
	chosen := make(map[string]*selector, len(ids))
	for id, s := range c.selectors {
		if slices.Contains(ids, id) {
			chosen[id] = s
		}
	}
	return chosen
}
