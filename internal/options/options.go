// Package options is how a driver reads the table of the configuration that is meant for it, and
// how it says what is wrong with it. It is the one thing that the configuration, the contracts and
// every driver share, so that a message about a driver's key looks like any other: file, line,
// key, what was found, what would be right.
package options

import (
	"errors"
	"fmt"
)

// Table is one table of the configuration, not yet decoded: the options of a source, of a target,
// or of one workload's target.
type Table interface {
	// Decode reads the table into the struct v points to, by its `toml` tags, on top of the
	// defaults v holds. A key that v does not have and a value of the wrong type are errors made
	// with Errorf; every one of them is in the result (see Split).
	Decode(v any) error
	// Dir is the absolute folder of the file the table stands in; relative paths in options are
	// relative to it.
	Dir() string
}

// KeyError says what is wrong with one key of a Table.
type KeyError struct {
	// Key is the path below the table ("url", "basic_auth.password_file"); empty for the table.
	Key string
	// Message says what was found and what would be right.
	Message string
	// Unknown is the name of a key that the table does not have; empty for any other mistake.
	Unknown string
	// Meant is the path of the key that was probably meant by an unknown one, if any.
	Meant string
}

func (e *KeyError) Error() string {
	if e.Key == "" {
		return e.Message
	}
	return e.Key + ": " + e.Message
}

// Errorf makes a KeyError. Join several with errors.Join.
func Errorf(key, format string, args ...any) error {
	return &KeyError{Key: key, Message: fmt.Sprintf(format, args...)}
}

// Split takes an error apart that was joined with errors.Join, at any depth.
func Split(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, Split(e)...)
		}
		return all
	}
	return []error{err}
}

// Key returns the key an error of Split is about, and its message.
func Key(err error) (key, message string) {
	var k *KeyError
	if errors.As(err, &k) {
		return k.Key, k.Message
	}
	return "", err.Error()
}

// Unknown returns the name of the key that an error of Split is about, if the table does not have
// it, and the path of the one that was probably meant, if any.
func Unknown(err error) (name, meant string) {
	var k *KeyError
	if errors.As(err, &k) {
		return k.Unknown, k.Meant
	}
	return "", ""
}
