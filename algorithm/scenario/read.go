package scenario

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// maxLine bounds one scenario; larger ones are refused before they fill the memory.
const maxLine = 64 << 20

// LineError says what is wrong with one line, counted from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

// Read returns the scenarios of r, one per line; blank lines are skipped. The first error ends it;
// it is a LineError unless r itself failed.
func Read(r io.Reader) iter.Seq2[*Scenario, error] {
	return func(yield func(*Scenario, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		n := 0
		for lines.Scan() {
			n++
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			s, err := parse(line)
			if err != nil {
				yield(nil, &LineError{n, err})
				return
			}
			if !yield(s, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, &LineError{n + 1, fmt.Errorf("longer than %d MiB", maxLine>>20)})
		case err != nil:
			yield(nil, fmt.Errorf("cannot read scenarios: %w", err))
		}
	}
}

func parse(line []byte) (*Scenario, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	var s Scenario
	if err := decoder.Decode(&s); err != nil {
		return nil, inOurWords(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the scenario on its line")
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	return &s, nil
}

// inOurWords keeps the names of Go types out of messages for people.
func inOurWords(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		want := strings.TrimPrefix(wrong.Type.String(), "*")
		switch wrong.Type.Kind().String() {
		case "struct", "map":
			want = "an object"
		case "slice", "array":
			want = "a list"
		case "string":
			want = "a string"
		case "bool":
			want = "true or false"
		case "int32", "int64":
			want = fmt.Sprintf("a whole number of %d bits", wrong.Type.Bits())
		case "float64":
			want = "a number"
		}
		return fmt.Errorf("%s: must be %s, is %s", cmp.Or(wrong.Field, "the scenario"), want, wrong.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the line ends within the scenario")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
