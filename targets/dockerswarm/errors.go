package dockerswarm

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/containerd/errdefs"

	"github.com/hpad/hpad/targets"
)

// readError classes an error of a request that changes nothing.
func (c *connection) readError(name string, err error) error {
	class, hint := classOf(err)
	if class == targets.NotFound {
		// Services that are missing do not come here: the engine does not know what a service is.
		class, hint = targets.Invalid, "the engine has no swarm mode"
	}
	return c.errorf(class, "cannot read service", name, err, hint)
}

// writeError classes an error of the update. Once it was sent, an error that is not a definite
// refusal leaves open whether it was done.
func (c *connection) writeError(name string, sent bool, err error) error {
	class, hint := classOf(err)
	if sent && class == targets.Unavailable {
		class = targets.Uncertain
	}
	return c.errorf(class, "cannot scale service", name, err, hint)
}

func (c *connection) errorf(class targets.Class, what, name string, err error, hint string) error {
	if hint != "" {
		hint = " (" + hint + ")"
	}
	return targets.Errorf(class, "%s %q at %q: %w%s", what, name, c.host, plainError{err}, hint)
}

func missing(name string) error {
	return targets.Errorf(targets.NotFound, "there is no service %q", name)
}

// classOf returns the class of an engine's error, and what the operator can do about it.
func classOf(err error) (class targets.Class, hint string) {
	text := err.Error()
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return targets.Unavailable, ""
	case errors.Is(err, fs.ErrPermission):
		return targets.Denied, "hpad's user must be in the group that owns the socket, usually docker, which makes it root on this machine"
	case strings.Contains(text, "update out of sequence"):
		// The engine says so with status 500, of which the client makes an internal error.
		return targets.Conflict, "it was changed since it was read"
	case strings.Contains(text, "not a swarm manager"):
		return targets.Invalid, "host must be a manager of the swarm"
	case errdefs.IsNotFound(err):
		return targets.NotFound, ""
	case errdefs.IsUnauthorized(err), errdefs.IsPermissionDenied(err):
		return targets.Denied, "the engine, or a proxy before it, does not allow this"
	case errdefs.IsResourceExhausted(err):
		return targets.Throttled, ""
	case errdefs.IsInvalidArgument(err):
		return targets.Invalid, ""
	}
	return targets.Unavailable, ""
}

// plainError is an error of the Docker client on one line and without its usual beginning.
type plainError struct{ error }

func (e plainError) Error() string {
	text := strings.TrimPrefix(e.error.Error(), "Error response from daemon: ")
	return strings.Join(strings.Fields(text), " ")
}

func (e plainError) Unwrap() error { return e.error }
