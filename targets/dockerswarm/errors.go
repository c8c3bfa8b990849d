package dockerswarm

import (
	"strings"

	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/dockerapi"
)

// readError classes an error of a request that changes nothing.
func (c *connection) readError(name string, err error) error {
	class, hint := classOf(err)
	if class == targets.NotFound {
		// Services that are missing do not come here: the engine does not know what a service is.
		class, hint = targets.Invalid, "the engine has no swarm mode"
	}
	return c.engine.Errorf(class, "cannot read service", name, err, hint)
}

// writeError classes an error of the update. Once it was sent, an error that is not a definite
// refusal leaves open whether it was done.
func (c *connection) writeError(name string, sent bool, err error) error {
	class, hint := classOf(err)
	if sent && class == targets.Unavailable {
		class = targets.Uncertain
	}
	return c.engine.Errorf(class, "cannot scale service", name, err, hint)
}

func missing(name string) error {
	return targets.Errorf(targets.NotFound, "there is no service %q", name)
}

// classOf knows what only a swarm says.
func classOf(err error) (class targets.Class, hint string) {
	text := err.Error()
	switch {
	case strings.Contains(text, "update out of sequence"):
		// The engine says so with status 500, of which the client makes an internal error.
		return targets.Conflict, "it was changed since it was read"
	case strings.Contains(text, "not a swarm manager"):
		return targets.Invalid, "host must be a manager of the swarm"
	}
	return dockerapi.ClassOf(err)
}
