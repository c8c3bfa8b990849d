package systemd

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/godbus/dbus/v5"

	"github.com/hpad/hpad/targets"
)

func (t *target) readError(err error) error {
	class, hint := classOf(err)
	return t.errorf("cannot read", class, hint, err)
}

// writeError classes an error of a request for a change. Once it was sent, whatever is not
// systemd's own answer leaves open whether it was done.
func (t *target) writeError(sent bool, err error) error {
	class, hint := classOf(err)
	if sent && !isRefusal(err) {
		class = targets.Uncertain
	}
	return t.errorf("cannot scale", class, hint, err)
}

func (t *target) errorf(what string, class targets.Class, hint string, err error) error {
	if hint != "" {
		hint = " (" + hint + ")"
	}
	return targets.Errorf(class, "%s %q at %v: %w%s", what, t.name, t.connection, plainError{err}, hint)
}

const deniedHint = "hpad's user needs a polkit rule for org.freedesktop.systemd1.manage-units, see the driver's README.md"

// classes are the answers of systemd and of the bus that mean more than "not now".
var classes = map[string]struct {
	class targets.Class
	hint  string
}{
	"org.freedesktop.systemd1.NoSuchUnit":                         {targets.NotFound, ""},
	"org.freedesktop.systemd1.UnitMasked":                         {targets.NotFound, "systemctl unmask"},
	"org.freedesktop.systemd1.LoadFailed":                         {targets.Invalid, ""},
	"org.freedesktop.systemd1.BadUnitSetting":                     {targets.Invalid, ""},
	"org.freedesktop.systemd1.OnlyByDependency":                   {targets.Invalid, "the unit has RefuseManualStart or RefuseManualStop"},
	"org.freedesktop.systemd1.JobTypeNotApplicable":               {targets.Invalid, ""},
	"org.freedesktop.systemd1.TransactionIsDestructive":           {targets.Busy, ""},
	"org.freedesktop.systemd1.TransactionJobsConflicting":         {targets.Busy, ""},
	"org.freedesktop.systemd1.ShuttingDown":                       {targets.Busy, ""},
	"org.freedesktop.DBus.Error.LimitsExceeded":                   {targets.Throttled, ""},
	"org.freedesktop.DBus.Error.AccessDenied":                     {targets.Denied, deniedHint},
	"org.freedesktop.DBus.Error.AuthFailed":                       {targets.Denied, deniedHint},
	"org.freedesktop.DBus.Error.InteractiveAuthorizationRequired": {targets.Denied, deniedHint},
	"org.freedesktop.DBus.Error.UnknownMethod":                    {targets.Invalid, "who answers on this bus is not systemd"},
	"org.freedesktop.DBus.Error.InvalidArgs":                      {targets.Invalid, ""},
	"org.freedesktop.DBus.Error.ServiceUnknown":                   {targets.Unavailable, "systemd is not on this bus"},
	"org.freedesktop.DBus.Error.NameHasNoOwner":                   {targets.Unavailable, "systemd is not on this bus"},
}

// classOf returns the class of an error, and what the operator can do about it.
func classOf(err error) (targets.Class, string) {
	var answer dbus.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return targets.Unavailable, ""
	case errors.Is(err, fs.ErrPermission):
		return targets.Denied, "hpad's user must be allowed to use the socket"
	case errors.As(err, &answer):
		known := classes[answer.Name]
		return known.class, known.hint
	}
	return targets.Unavailable, ""
}

// isRefusal tells whether an error is systemd's own, and not the bus's about a lost answer.
func isRefusal(err error) bool {
	var answer dbus.Error
	if !errors.As(err, &answer) {
		return false
	}
	switch answer.Name {
	case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
		"org.freedesktop.DBus.Error.TimedOut", "org.freedesktop.DBus.Error.Disconnected":
		return false
	}
	return true
}

// plainError is an error of the bus on one line.
type plainError struct{ error }

func (e plainError) Error() string {
	text := strings.TrimPrefix(e.error.Error(), "dbus: ")
	return strings.Join(strings.Fields(text), " ")
}

func (e plainError) Unwrap() error { return e.error }
