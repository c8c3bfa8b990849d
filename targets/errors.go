package targets

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Class decides what hpad does about an error of a Target.
type Class uint8

// The classes. Whatever a driver did not classify is Unavailable, or Uncertain when the deadline
// of a SetReplicas ran out.
const (
	// Unavailable: no answer, or a server's fault. The next evaluation tries again.
	Unavailable Class = iota
	// Throttled: asked too often. Wait Error.RetryAfter.
	Throttled
	// Conflict: somebody changed the target since it was read. Read and decide again.
	Conflict
	// Busy: the target does not take changes now. Hold.
	Busy
	// Capacity: the platform cannot provide more. Hold growth.
	Capacity
	// OutOfRange: beyond the platform's own bounds.
	OutOfRange
	// Blocked: the platform refuses this direction.
	Blocked
	// NotFound: the target does not exist.
	NotFound
	// Denied: not allowed to.
	Denied
	// Invalid: can never work as configured.
	Invalid
	// Uncertain: sent, and no answer. Read back before anything else.
	Uncertain
)

var classNames = [...]string{
	"unavailable", "throttled", "conflict", "busy", "capacity", "out_of_range", "blocked",
	"not_found", "denied", "invalid", "uncertain",
}

// String is the class as it appears in metrics and the API.
func (c Class) String() string { return classNames[c] }

// Error is an error of a Target with its class.
type Error struct {
	Class Class
	// RetryAfter is set by a platform that says when to come back.
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error. Its text says what could not be done, to what, and why.
func Errorf(class Class, format string, args ...any) error {
	return &Error{Class: class, Err: fmt.Errorf(format, args...)}
}

// ClassOf returns the class of an error of Target.Status (mutating false) or Target.SetReplicas.
func ClassOf(err error, mutating bool) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	if mutating && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return Uncertain
	}
	return Unavailable
}
