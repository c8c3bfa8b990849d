package httpclient

import "fmt"

// Kind is what was wrong.
type Kind uint8

// The kinds.
const (
	// Unavailable: no answer in time, a 429 or a 5xx.
	Unavailable Kind = iota
	// Denied: 401 or 403, or a secret that cannot be had.
	Denied
	// Garbled: the answer breaks off, is too large, or has a status that makes no sense.
	Garbled
)

// Error is an error of a Client with its kind.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return e.Err }

func errorf(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}
