package jsontarget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/hpad/hpad/internal/command"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// answer is what the other side says. Fields that are not known are left alone: the other side may
// be newer.
type answer struct {
	Version *int         `json:"version"`
	Status  *Status      `json:"status"`
	Error   *errorAnswer `json:"error"`
}

type errorAnswer struct {
	Class      string `json:"class"`
	Message    string `json:"message"`
	RetryAfter string `json:"retry_after"`
}

// Decode reads the answer to a request. Refusal is the other side's own error, of package targets;
// err says why the answer is none.
func Decode(r *Request, text []byte) (status *Status, refusal, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil, errors.New("the answer is empty")
	}
	if !utf8.Valid(text) {
		return nil, nil, errors.New("the answer is not UTF-8")
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, nil, fmt.Errorf("the answer is not the JSON it must be: %w", plain(err))
	}
	switch {
	case a.Version == nil:
		return nil, nil, fmt.Errorf("the answer lacks \"version\": %d", ContractVersion)
	case *a.Version != ContractVersion:
		return nil, nil, fmt.Errorf("the answer is of version %d of the contract, must be of %d", *a.Version, ContractVersion)
	case a.Error != nil:
		refusal, err := a.Error.convert()
		return nil, refusal, err
	case r.Writes():
		return nil, nil, nil
	case a.Status == nil:
		return nil, nil, errors.New(`the answer lacks "status"`)
	}
	if err := a.Status.check(); err != nil {
		return nil, nil, err
	}
	return a.Status, nil, nil
}

// plain leaves the names of Go types out.
func plain(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%q cannot be a JSON %s", kind.Field, kind.Value)
	}
	return err
}

func (e *errorAnswer) convert() (refusal, err error) {
	class, known := classNamed(e.Class)
	if !known {
		return nil, fmt.Errorf("the answer has an error of the unknown class %s", options.Show(e.Class))
	}
	wait, err := parseWait(e.RetryAfter)
	if err != nil {
		return nil, err
	}
	message := command.Line(e.Message)
	if message == "" {
		message = "it answers " + class.String() + " and says no more"
	}
	return &targets.Error{Class: class, RetryAfter: wait, Err: errors.New(message)}, nil
}

// longestWait is the longest retry_after that is taken for one.
const longestWait = 24 * time.Hour

func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := options.ParseDuration(text)
	if err != nil || wait < 0 || wait > longestWait {
		return 0, fmt.Errorf(`"retry_after" must be a duration such as "30s", at most 24h, is %s`, options.Show(text))
	}
	return wait, nil
}

// classNamed returns the class of that name, as targets.Class.String gives it.
func classNamed(name string) (targets.Class, bool) {
	for class := targets.Unavailable; class <= targets.Uncertain; class++ {
		if class.String() == name {
			return class, true
		}
	}
	return targets.Unavailable, false
}
