package sources

import (
	"errors"
	"fmt"
)

// Kind is what was wrong with an answer; it is a label value of hpad's metrics.
type Kind uint8

// The kinds.
const (
	// Unavailable: no answer, a 5xx, a deadline.
	Unavailable Kind = iota
	// NoData: the answer is empty.
	NoData
	// Stale: the sample is older than the metric's max_age, or from the future.
	Stale
	// Invalid: NaN, infinite, not a number, or not of the form the metric needs.
	Invalid
	// TooMany: more series than the metric can use.
	TooMany
	// Denied: 401 or 403.
	Denied
	// BadQuery: the source does not understand the question.
	BadQuery
	// Garbled: the answer is not in the source's language, or too large.
	Garbled
	// Unsupported: this source cannot measure that.
	Unsupported
)

var kindNames = [...]string{
	"unavailable", "no_data", "stale", "invalid", "too_many", "denied", "bad_query", "garbled", "unsupported",
}

// String is the kind as it appears in metrics and the API.
func (k Kind) String() string { return kindNames[k] }

// Error is an error of a Source with its kind.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error. Its text says what was asked, what came, and what would be right.
func Errorf(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of an error of a Source.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Unavailable
}
