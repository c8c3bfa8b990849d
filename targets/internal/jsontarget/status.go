package jsontarget

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/command"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// Status is the status as the other side tells it.
type Status struct {
	SpecReplicas   *int64      `json:"spec_replicas"`
	StatusReplicas *int64      `json:"status_replicas"`
	Version        string      `json:"version"`
	Instances      *[]instance `json:"instances"`
	Blocks         []block     `json:"blocks"`
	Warnings       []string    `json:"warnings"`
}

type instance struct {
	ID              string            `json:"id"`
	Identifiers     []string          `json:"identifiers"`
	Phase           string            `json:"phase"`
	Ready           *bool             `json:"ready"`
	Deleting        bool              `json:"deleting"`
	Started         *time.Time        `json:"started"`
	ReadyTransition *time.Time        `json:"ready_transition"`
	Requests        map[string]string `json:"requests"`
	PID             int               `json:"pid"`

	requests []algorithm.Request
}

type block struct {
	Up      bool   `json:"up"`
	Down    bool   `json:"down"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

const (
	mostWarnings = 20
	mostPID      = 1 << 22 // Linux's own limit
)

var reasonForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)

// check finds what is missing, wrong or absurd.
func (s *Status) check() error {
	for _, count := range []struct {
		name  string
		value *int64
	}{{"spec_replicas", s.SpecReplicas}, {"status_replicas", s.StatusReplicas}} {
		if count.value == nil {
			return fmt.Errorf("the status lacks %q", count.name)
		}
		if *count.value < 0 || *count.value > MaxReplicas {
			return fmt.Errorf("%q must be 0 … %d, is %d", count.name, MaxReplicas, *count.value)
		}
	}
	if s.Instances == nil {
		return errors.New(`the status lacks "instances"`)
	}
	if len(*s.Instances) == 0 && *s.StatusReplicas > 0 {
		return fmt.Errorf("\"instances\" is empty, but \"status_replicas\" is %d", *s.StatusReplicas)
	}
	seen := map[string]bool{}
	for i := range *s.Instances {
		one := &(*s.Instances)[i]
		if err := one.check(seen); err != nil {
			return fmt.Errorf("instances[%d]: %w", i, err)
		}
	}
	for i, b := range s.Blocks {
		if !reasonForm.MatchString(b.Reason) || command.Line(b.Message) == "" || !b.Up && !b.Down {
			return fmt.Errorf("blocks[%d] must have up or down, a reason such as \"UpdateInProgress\", and a message", i)
		}
	}
	return nil
}

var phases = map[string]algorithm.Phase{
	"pending": algorithm.PhasePending, "running": algorithm.PhaseRunning,
	"succeeded": algorithm.PhaseSucceeded, "failed": algorithm.PhaseFailed, "unknown": algorithm.PhaseUnknown,
}

func (i *instance) check(seen map[string]bool) error {
	if i.ID == "" || seen[i.ID] {
		return fmt.Errorf("\"id\" must be there and differ from all others, is %s", options.Show(i.ID))
	}
	seen[i.ID] = true
	if slices.Contains(i.Identifiers, "") {
		return errors.New(`"identifiers" hold an empty one`)
	}
	if _, known := phases[i.Phase]; !known {
		return fmt.Errorf("\"phase\" must be pending, running, succeeded, failed or unknown, is %s", options.Show(i.Phase))
	}
	if i.PID < 0 || i.PID > mostPID {
		return fmt.Errorf("\"pid\" must be 1 … %d, is %d", mostPID, i.PID)
	}
	i.requests = nil
	for resource, text := range i.Requests {
		value, err := algorithm.ParseQuantity(text)
		if err != nil {
			return fmt.Errorf("\"requests\" of %q: %w", resource, err)
		}
		if value <= 0 {
			return fmt.Errorf("\"requests\" of %q must be > 0, is %s", resource, options.Show(text))
		}
		i.requests = append(i.requests, algorithm.Request{Resource: resource, Value: value})
	}
	slices.SortFunc(i.requests, func(a, b algorithm.Request) int {
		if a.Resource < b.Resource {
			return -1
		}
		return 1
	})
	return nil
}

// convert returns a status that has passed its check as the contract has it.
func (s *Status) convert() targets.Status {
	status := targets.Status{
		SpecReplicas:   int32(*s.SpecReplicas),
		StatusReplicas: int32(*s.StatusReplicas),
		Version:        s.Version,
	}
	for i := range *s.Instances {
		status.Instances = append(status.Instances, (*s.Instances)[i].convert())
	}
	for _, b := range s.Blocks {
		status.Blocks = append(status.Blocks, targets.Block{Up: b.Up, Down: b.Down, Reason: b.Reason, Message: command.Line(b.Message)})
	}
	for _, text := range s.Warnings[:min(len(s.Warnings), mostWarnings)] {
		if line := command.Line(text); line != "" {
			status.Warnings = append(status.Warnings, line)
		}
	}
	return status
}

func (i *instance) convert() targets.Instance {
	identifiers := []string{i.ID}
	for _, name := range i.Identifiers {
		if !slices.Contains(identifiers, name) {
			identifiers = append(identifiers, name)
		}
	}
	ready := algorithm.ReadinessAbsent
	if i.Ready != nil && *i.Ready {
		ready = algorithm.Ready
	} else if i.Ready != nil {
		ready = algorithm.NotReady
	}
	return targets.Instance{
		Instance: algorithm.Instance{
			ID:              i.ID,
			Phase:           phases[i.Phase],
			Deleting:        i.Deleting,
			Ready:           ready,
			Started:         timeOf(i.Started),
			ReadyTransition: timeOf(i.ReadyTransition),
			Containers:      []algorithm.Container{{Requests: i.requests}},
		},
		Identifiers: identifiers,
		PID:         i.PID,
	}
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
