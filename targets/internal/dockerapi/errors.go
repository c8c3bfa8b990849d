package dockerapi

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/containerd/errdefs"

	"github.com/hpad/hpad/targets"
)

// ClassOf returns the class of an engine's error, and what the operator can do about it.
func ClassOf(err error) (class targets.Class, hint string) {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return targets.Unavailable, ""
	case errors.Is(err, fs.ErrPermission):
		return targets.Denied, "hpad's user must be in the group that owns the socket, usually docker, which makes it root on this machine"
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

// Errorf makes the error of a thing of the engine, with a hint in parentheses if there is one.
func (e *Engine) Errorf(class targets.Class, what, name string, err error, hint string) error {
	if hint != "" {
		hint = " (" + hint + ")"
	}
	return targets.Errorf(class, "%s %q at %q: %w%s", what, name, e.Host, plainError{err}, hint)
}

// Plain returns an error of the engine on one line and without the client's usual beginning.
func Plain(err error) error { return plainError{err} }

type plainError struct{ error }

func (e plainError) Error() string {
	text := strings.TrimPrefix(e.error.Error(), "Error response from daemon: ")
	return strings.Join(strings.Fields(text), " ")
}

func (e plainError) Unwrap() error { return e.error }
