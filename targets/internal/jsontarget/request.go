package jsontarget

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// ContractVersion is the version of the contract that is spoken here.
const ContractVersion = 1

// MaxReplicas is the largest count that is believed or asked for.
const MaxReplicas = 1_000_000

// The operations.
const (
	OperationStatus = "status"
	OperationSet    = "set_replicas"
)

// Request is what is asked of the other side. Its JSON is one line with the fields in this order.
type Request struct {
	Version    int               `json:"version"`
	Operation  string            `json:"operation"`
	Target     string            `json:"target"`
	Parameters map[string]string `json:"parameters,omitempty"`
	// What follows is set for OperationSet only.
	FromVersion  *string `json:"from_version,omitempty"`
	FromReplicas *int32  `json:"from_replicas,omitempty"`
	Replicas     *int32  `json:"replicas,omitempty"`
	RequestID    string  `json:"request_id,omitempty"`
}

// Writes tells whether the request wants to change something.
func (r *Request) Writes() bool { return r.Operation == OperationSet }

// JSON is the request as it is sent.
func (r *Request) JSON() []byte {
	// Strings and numbers can always be written; the keys of a map are sorted.
	text, _ := json.Marshal(r)
	return append(text, '\n')
}

// Variables is the request as variables of an environment, for those who cannot read JSON.
func (r *Request) Variables() map[string]string {
	all := map[string]string{
		"HPAD_VERSION":   strconv.Itoa(r.Version),
		"HPAD_OPERATION": r.Operation,
		"HPAD_TARGET":    r.Target,
	}
	for name, value := range r.Parameters {
		all["HPAD_PARAMETER_"+strings.ToUpper(name)] = value
	}
	if r.Writes() {
		all["HPAD_FROM_VERSION"] = *r.FromVersion
		all["HPAD_FROM_REPLICAS"] = strconv.Itoa(int(*r.FromReplicas))
		all["HPAD_REPLICAS"] = strconv.Itoa(int(*r.Replicas))
		all["HPAD_REQUEST_ID"] = r.RequestID
	}
	return all
}

// Options are the keys of a workload's target.
type Options struct {
	Name       string            `toml:"name" doc:"the name of the target, as the other side knows it (required). It alone tells targets apart, parameters do not"`
	Parameters map[string]string `toml:"parameters" doc:"whatever else the other side wants to know; names are of a-z, 0-9 and _"`
}

// fields are the names of the fields of a request. Parameters have others, so that who looks for a
// field in the text finds no parameter.
var fields = []string{
	"version", "operation", "target", "parameters", "from_version", "from_replicas", "replicas", "request_id",
}

var parameterName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Check returns what is wrong with the options, as errors of package options.
func (o *Options) Check() error {
	var errs []error
	switch {
	case o.Name == "":
		errs = append(errs, options.Errorf("name", "is missing, must be the name of the target"))
	case len(o.Name) > 253 || strings.ContainsFunc(o.Name, control):
		errs = append(errs, options.Errorf("name", "must be at most 253 bytes without control characters, is %s", options.Show(o.Name)))
	}
	for name, value := range o.Parameters {
		key := options.JoinKey("parameters", options.Quote(name))
		if slices.Contains(fields, name) {
			errs = append(errs, options.Errorf(key, "is a field of the request itself"))
		}
		if !parameterName.MatchString(name) {
			errs = append(errs, options.Errorf(key, "must be a name of a-z, 0-9 and _"))
		}
		if strings.ContainsRune(value, 0) {
			errs = append(errs, options.Errorf(key, "must not hold a zero byte"))
		}
	}
	return errors.Join(errs...)
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// Bind reads the table of a workload's target.
func Bind(c Carrier, table options.Table) (targets.Target, error) {
	var o Options
	if err := table.Decode(&o); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	return New(c, o), nil
}

func retryAfter(err error) time.Duration {
	var classed *targets.Error
	if errors.As(err, &classed) {
		return classed.RetryAfter
	}
	return 0
}
