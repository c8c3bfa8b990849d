package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hpad/hpad/algorithm"
)

// check returns the first thing that keeps a scenario from being replayed as it was meant. Rules
// which a controller would refuse are fine: to decide upon them is what some scenarios are for.
func (s *Scenario) check() error {
	if err := s.Workload.check(); err != nil {
		return fmt.Errorf("workload: %w", err)
	}
	if len(s.Steps) == 0 {
		return errors.New("steps: must hold at least one step")
	}
	if s.Steps[0].SpecReplicas == nil {
		return errors.New("steps[0]: spec_replicas is missing; nothing came before")
	}
	workload := &s.Workload
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Workload != nil {
			workload = step.Workload
		}
		if err := step.check(workload); err != nil {
			return fmt.Errorf("steps[%d]: %w", i, err)
		}
		if i > 0 && *step.At < *s.Steps[i-1].At {
			return fmt.Errorf("steps[%d]: at_s: must not be before the last step (%d), is %d",
				i, *s.Steps[i-1].At, *step.At)
		}
	}
	return nil
}

func (w *Workload) check() error {
	if w.MaxReplicas == nil {
		return errors.New("max_replicas is missing")
	}
	for i, m := range w.Metrics {
		if err := known(targetKinds, m.Target.Type); err != nil {
			return fmt.Errorf("metrics[%d].target.type: %w", i, err)
		}
	}
	if w.Behavior == nil {
		return nil
	}
	if err := w.Behavior.ScaleUp.check(); err != nil {
		return fmt.Errorf("behavior.scale_up.%w", err)
	}
	if err := w.Behavior.ScaleDown.check(); err != nil {
		return fmt.Errorf("behavior.scale_down.%w", err)
	}
	return nil
}

func (r *Rules) check() error {
	if r == nil {
		return nil
	}
	if err := known(selectPolicies, r.SelectPolicy); err != nil {
		return fmt.Errorf("select_policy: %w", err)
	}
	if r.Tolerance != nil {
		if _, err := algorithm.ParseTolerance(*r.Tolerance); err != nil {
			return fmt.Errorf("tolerance: %w", err)
		}
	}
	for i, p := range r.Policies {
		if err := known(policyTypes, p.Type); err != nil {
			return fmt.Errorf("policies[%d].type: %w", i, err)
		}
	}
	return nil
}

func (s *Step) check(w *Workload) error {
	if s.At == nil {
		return errors.New("at_s is missing")
	}
	if s.Workload != nil {
		if err := s.Workload.check(); err != nil {
			return fmt.Errorf("workload: %w", err)
		}
	}
	if err := known(selectors, s.Selector); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	if err := s.Faults.check(); err != nil {
		return fmt.Errorf("faults.%w", err)
	}
	if err := checkInstances(s.Instances); err != nil {
		return err
	}
	return checkSamples(s.Samples, w)
}

func (f *Faults) check() error {
	if err := oneOf(f.GetTarget, faultError); err != nil {
		return fmt.Errorf("get_target: %w", err)
	}
	if err := oneOf(f.SetTarget, faultConflict, faultConflictOnce, faultError); err != nil {
		return fmt.Errorf("set_target: %w", err)
	}
	if err := oneOf(f.SaveStatus, faultError); err != nil {
		return fmt.Errorf("save_status: %w", err)
	}
	return nil
}

func checkInstances(instances []Instance) error {
	seen := make(map[string]bool, len(instances))
	for i := range instances {
		in := &instances[i]
		if seen[in.ID] {
			return fmt.Errorf("instances[%d].id: %q is listed twice", i, in.ID)
		}
		seen[in.ID] = true
		if err := known(phases, in.Phase); err != nil {
			return fmt.Errorf("instances[%d].phase: %w", i, err)
		}
		if err := known(readinesses, in.Ready); err != nil {
			return fmt.Errorf("instances[%d].ready: %w", i, err)
		}
		for k, c := range in.Containers {
			if err := oneOf(c.Kind, kindInit, kindMain, kindSidecar); err != nil {
				return fmt.Errorf("instances[%d].containers[%d].kind: %w", i, k, err)
			}
		}
	}
	return nil
}

func checkSamples(readings []Reading, w *Workload) error {
	if most := max(1, len(w.Metrics)); len(readings) > most {
		return fmt.Errorf("samples: must hold at most one entry per metric (%d), holds %d",
			most, len(readings))
	}
	for i, reading := range readings {
		if i < len(w.Metrics) && total(w.Metrics[i].Type) {
			continue
		}
		seen := make(map[string]bool, len(reading.Values))
		for k, v := range reading.Values {
			if seen[v.Instance] {
				return fmt.Errorf("samples[%d].values[%d].instance: %q has two samples", i, k, v.Instance)
			}
			seen[v.Instance] = true
		}
	}
	return nil
}

// total tells whether a metric is one number for the whole workload.
func total(metricType string) bool { return metricType == "object" || metricType == "external" }

func known[V any](words map[string]V, word string) error {
	if _, ok := words[word]; ok {
		return nil
	}
	return unknown(word, slices.Sorted(maps.Keys(words)))
}

// oneOf accepts the empty word, too.
func oneOf(word string, words ...string) error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	return unknown(word, words)
}

func unknown(word string, words []string) error {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return fmt.Errorf("must be one of %s, is %q", strings.Join(words, ", "), word)
}
