package docker

import (
	"context"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// inspectors is how many containers are inspected at once. An engine needs about 0.3 ms of CPU for
// each.
const inspectors = 16

// read lists the containers of one target by the engine's own filter, and for more all containers
// at once, stopped ones included; then it inspects the members. A list alone has neither health
// nor limits nor the time of the start.
func (c *connection) read(ctx context.Context, ids []string) (map[string][]*member, error) {
	ctx, cancel := c.engine.Limit(ctx)
	defer cancel()
	if _, err := c.engineKind(ctx); err != nil {
		return nil, err
	}
	selectors := c.selected(ids)
	list := container.ListOptions{All: true}
	if len(selectors) == 1 {
		for _, s := range selectors {
			list.Filters = s.filter()
		}
	}
	listed, err := c.engine.ContainerList(ctx, list)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for i := range listed {
		for _, s := range selectors {
			if s.matches(listed[i].Labels) {
				wanted[listed[i].ID] = true
			}
		}
	}
	inspected, err := c.inspect(ctx, wanted)
	if err != nil {
		return nil, err
	}
	members := make(map[string][]*member, len(selectors))
	for id, s := range selectors {
		for i := range inspected {
			if m := inspected[i]; s.matches(m.seen.Config.Labels) {
				members[id] = append(members[id], s.member(m))
			}
		}
	}
	return members, nil
}

// inspect reads containers in any order; those that are gone by now are left out.
func (c *connection) inspect(ctx context.Context, ids map[string]bool) ([]*member, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		all   []*member
		first error
	)
	slots := make(chan struct{}, inspectors)
	for id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			m, err := c.inspectOne(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && first == nil:
				first = err
				cancel()
			case m != nil:
				all = append(all, m)
			}
		})
	}
	wg.Wait()
	if first != nil {
		return nil, first
	}
	return all, nil
}

// inspectOne returns nil if there is no such container.
func (c *connection) inspectOne(ctx context.Context, id string) (*member, error) {
	seen, raw, err := c.engine.ContainerInspectWithRaw(ctx, id, false)
	if errdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newMember(seen, raw)
}
