package exec

import (
	"errors"
	"io/fs"

	"github.com/hpad/hpad/internal/command"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/jsontarget"
)

// classOfCode returns the class that an exit code means, if it means one.
func classOfCode(code int) (targets.Class, bool) {
	switch code {
	case 10:
		return targets.Conflict, true
	case 11:
		return targets.Busy, true
	case 12:
		return targets.Throttled, true
	case 13:
		return targets.Capacity, true
	case 14:
		return targets.OutOfRange, true
	case 15:
		return targets.Blocked, true
	case 16:
		return targets.NotFound, true
	case 17:
		return targets.Denied, true
	case 18:
		return targets.Invalid, true
	case 19:
		return targets.Uncertain, true
	case 20:
		return targets.Unavailable, true
	}
	return targets.Unavailable, false
}

// refused makes an error of an exit code. An error in the output says more than the code.
func (c *connection) refused(r *jsontarget.Request, answer command.Answer) error {
	_, refusal, err := jsontarget.Decode(r, answer.Output)
	if err == nil && refusal != nil {
		return refusal
	}
	class, known := classOfCode(answer.Code)
	if !known {
		class = orUncertain(r, class)
	}
	if answer.Remark == "" {
		return targets.Errorf(class, "command %s exited with status %d", c.command, answer.Code)
	}
	return targets.Errorf(class, "command %s exited with status %d: %s", c.command, answer.Code, answer.Remark)
}

// unanswered makes an error of a run that gave no answer.
func unanswered(r *jsontarget.Request, err error) error {
	switch {
	case errors.Is(err, command.ErrNotStarted) && errors.Is(err, fs.ErrPermission):
		return &targets.Error{Class: targets.Denied, Err: err}
	case errors.Is(err, command.ErrNotStarted):
		return &targets.Error{Class: targets.Unavailable, Err: err}
	}
	return &targets.Error{Class: orUncertain(r, targets.Unavailable), Err: err}
}

// orUncertain is the class of an error that leaves open whether anything was done.
func orUncertain(r *jsontarget.Request, class targets.Class) targets.Class {
	if r.Writes() {
		return targets.Uncertain
	}
	return class
}
