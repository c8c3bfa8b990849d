package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"

	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// clone is a container to be made, or one that was made and not started.
type clone struct {
	blueprint *blueprint
	name      string
	number    int
	id        string // once it is known
	// found is true if the container was there already.
	found bool
}

func (c *clone) slot() string { return strconv.Itoa(c.number) }

// blueprint reads the template, and whether its image is still what its reference means.
func (t *target) blueprint(ctx context.Context, template *member) (*blueprint, error) {
	image := template.seen.Config.Image
	named, err := t.connection.engine.ImageInspect(ctx, image)
	switch {
	case errdefs.IsNotFound(err), err == nil && named.ID != template.seen.Image:
		image = template.seen.Image
	case err != nil:
		return nil, t.createError(template.name, false, err)
	}
	b, err := newBlueprint(template, image)
	if err != nil {
		return nil, targets.Errorf(targets.Unavailable, "cannot clone container %q: %w", template.name, err)
	}
	return b, nil
}

// labels are the template's, with the clone's own number and hpad's mark.
func (t *target) labels(c *clone) map[string]string {
	labels := maps.Clone(c.blueprint.template.seen.Config.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	delete(labels, labelReplace)
	labels[labelTemplate] = c.blueprint.template.id
	if t.selector.compose() {
		labels[labelNumber] = c.slot()
	} else {
		labels[labelClone] = c.slot()
	}
	return labels
}

// nameTaken is how often, and how long apart, a name is tried that is taken by a container which
// cannot be seen yet: the engine reserves a name before the container is there.
const (
	nameTries = 20
	namePause = 100 * time.Millisecond
)

// create makes the container. That is idempotent by its name: a clone that is there already, of
// the same template, is this one.
func (t *target) create(ctx context.Context, c *clone) error {
	body, err := c.blueprint.body(c.name, t.labels(c))
	if err != nil {
		return targets.Errorf(targets.Unavailable, "cannot create container %q: %w", c.name, err)
	}
	for range nameTries {
		answer, sent, err := t.connection.engine.Post(ctx, "/containers/create", url.Values{"name": {c.name}}, body)
		if err == nil {
			return c.accept(answer)
		}
		if !nameTaken(err) {
			return t.createError(c.name, sent, err)
		}
		if known, err := t.findNamed(ctx, c); known || err != nil {
			return err
		}
		if err := pause(ctx, namePause); err != nil {
			return t.createError(c.name, sent, err)
		}
	}
	return targets.Errorf(targets.Conflict, "cannot create container %q: its name is taken by a container that the engine does not show", c.name)
}

func (c *clone) accept(answer []byte) error {
	var made struct{ ID string }
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		return targets.Errorf(targets.Uncertain, "cannot create container %q: the engine's answer has no id", c.name)
	}
	c.id = made.ID
	return nil
}

// nameTaken knows what Docker says with 409 and Podman with 500.
func nameTaken(err error) bool { return strings.Contains(err.Error(), "is already in use") }

// findNamed looks who has the name. It returns false if the engine shows nobody.
func (t *target) findNamed(ctx context.Context, c *clone) (bool, error) {
	m, err := t.connection.inspectOne(ctx, c.name)
	if err != nil {
		return false, t.createError(c.name, false, err)
	}
	switch {
	case m == nil:
		return false, nil
	case !t.selector.matches(m.seen.Config.Labels):
		return true, targets.Errorf(targets.Blocked, "cannot create container %q: the name is taken by container %s, which does not belong to %q", c.name, m.short(), t.selector)
	case m.seen.Config.Labels[labelTemplate] != c.blueprint.template.id:
		return true, targets.Errorf(targets.Conflict, "cannot create container %q: somebody else has made it meanwhile", c.name)
	}
	c.id, c.found = m.id, true
	return true, nil
}

// createError classes an error on the way to a new container. What the engine answers to a request
// is definite; no answer leaves open whether it was done.
func (t *target) createError(name string, sent bool, err error) error {
	class, hint := dockerapi.ClassOf(err)
	switch {
	case class == targets.NotFound:
		class, hint = targets.Unavailable, "something that the template uses is gone"
	case strings.Contains(err.Error(), "no space left"):
		class = targets.Capacity
	case sent && class == targets.Unavailable:
		class = targets.Uncertain
	}
	return t.connection.engine.Errorf(class, "cannot create container", name, err, hint)
}

// connectAndStart brings a clone to life.
func (t *target) connectAndStart(ctx context.Context, c *clone) error {
	engine := t.connection.engine
	connected := map[string]bool{}
	others := c.blueprint.others()
	if c.found && len(others) > 0 {
		m, err := t.connection.inspectOne(ctx, c.id)
		if err != nil {
			return err
		}
		if m != nil && m.seen.NetworkSettings != nil {
			for name := range m.seen.NetworkSettings.Networks {
				connected[name] = true
			}
		}
	}
	for _, network := range others {
		if connected[network] {
			continue
		}
		body, err := json.Marshal(map[string]any{"Container": c.id, "EndpointConfig": c.blueprint.endpoint(network, c.name)})
		if err != nil {
			return err
		}
		if _, _, err := engine.Post(ctx, "/networks/"+c.blueprint.ids[network]+"/connect", nil, body); err != nil {
			return fmt.Errorf("cannot connect it to network %q: %w", network, err)
		}
	}
	return t.startContainer(ctx, c.id)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// settled tells whether an error leaves nothing to do: the container is gone, or going.
func settled(err error) bool {
	return errdefs.IsNotFound(err) || errdefs.IsConflict(err) && strings.Contains(err.Error(), "already in progress")
}

// ended tells whether an error is only that hpad itself ends.
func ended(err error) bool { return errors.Is(err, context.Canceled) }
