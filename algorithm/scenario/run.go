package scenario

import (
	"errors"
	"slices"

	"github.com/hpad/hpad/algorithm"
)

// Run replays a scenario. It judges nothing: what it was given is what it decides upon.
func Run(s *Scenario) Outcome {
	outcome := Outcome{Name: s.Name, Steps: make([]Result, len(s.Steps))}
	if len(s.Steps) == 0 {
		return outcome
	}
	settings := s.Workload.settings()
	r := replay{
		settings: settings,
		workload: &s.Workload,
		spec:     s.Workload.spec(settings),
		state:    s.Initial.state(or(s.Steps[0].At, 0).moment()),
	}
	outcome.specs = make([]algorithm.Spec, len(s.Steps))
	for i := range s.Steps {
		outcome.Steps[i] = r.step(&s.Steps[i])
		outcome.specs[i] = r.spec
	}
	return outcome
}

// replay is the world of a scenario between two steps.
type replay struct {
	settings algorithm.Settings
	workload *Workload
	spec     algorithm.Spec
	// state and values are what was stored last: values is the part of the HPA's status which the
	// algorithm leaves to its caller.
	state  algorithm.State
	values []storedValue
	// replicas is the count in the target.
	replicas  int32
	instances []Instance
	samples   []Reading
}

// storedValue is a measured value as the stored status shows it; a failed metric has an empty one.
type storedValue struct {
	kind, name, container string
	value                 algorithm.CurrentValue
}

var (
	errGetTarget = errors.New("the target cannot be read")
	errSetTarget = errors.New("the target cannot be written")
	errConflict  = errors.New("somebody else changes the target")
)

func (r *replay) step(s *Step) Result {
	r.change(s)
	now := or(s.At, 0).moment()
	obs := r.observe(s)
	decision, next := algorithm.Decide(now, &r.spec, r.state, &obs)
	result := Result{Decision: decision, Action: none, ErrorLabel: none}
	var writeErr error
	if decision.Rescale {
		writeErr = s.Faults.write()
		next = algorithm.Applied(now, &r.spec, &decision, next, writeErr)
		result.RescaleReason = decision.Reason
		if writeErr == nil {
			result.Rescaled = true
			result.Action = action(r.replicas, decision.Desired)
			r.replicas = decision.Desired
		}
	}
	saved := r.save(s, &decision, next)
	result.SpecReplicas = r.replicas
	result.Error = decision.Outcome(writeErr) != nil || !saved
	if result.Error {
		result.ErrorLabel = internalError
	}
	if decision.Recommended {
		result.Recommendation = &decision.Recommendation
	}
	result.Metrics = metricResults(&decision)
	result.Events = events(&decision, writeErr, saved)
	result.showStatus(&r.state.Status)
	return result
}

// change does what happened before the step.
func (r *replay) change(s *Step) {
	if s.Workload != nil {
		r.workload = s.Workload
		r.spec = s.Workload.spec(r.settings)
	}
	if s.Restart {
		r.state.Memory = algorithm.Memory{}
	}
	r.replicas = or(s.SpecReplicas, r.replicas)
	if s.Instances != nil {
		r.instances = s.Instances
	}
	if s.Samples != nil {
		r.samples = s.Samples
	}
}

func (r *replay) observe(s *Step) algorithm.Observation {
	if s.Faults.GetTarget != "" {
		return algorithm.Observation{TargetErr: errGetTarget}
	}
	obs := algorithm.Observation{
		SpecReplicas:   r.replicas,
		StatusReplicas: or(s.StatusReplicas, r.replicas),
		Selector:       selectors[s.Selector],
		Instances:      make([]algorithm.Instance, len(r.instances)),
	}
	position := make(map[string]int, len(r.instances))
	for i := range r.instances {
		obs.Instances[i] = r.instances[i].instance(r.workload.DefaultRequests)
		position[r.instances[i].ID] = i
	}
	for i := range r.workload.Metrics {
		var reading Reading
		if i < len(r.samples) {
			reading = r.samples[i]
		}
		obs.Readings = append(obs.Readings,
			reading.reading(&r.workload.Metrics[i], or(s.At, 0).moment(), position))
	}
	return obs
}

func (f *Faults) write() error {
	switch f.SetTarget {
	case faultError:
		return errSetTarget
	case faultConflict:
		return errConflict
	}
	return nil
}

// save stores the status unless nothing in it changed. If that fails the old one stays, but a
// running process keeps its memory.
func (r *replay) save(s *Step, d *algorithm.Decision, next algorithm.State) bool {
	values := r.values
	if d.Path != algorithm.PathTargetFailed {
		values = r.measured(d)
	}
	changed := next.Status != r.state.Status || !slices.Equal(values, r.values)
	r.state.Memory = next.Memory
	if changed && s.Faults.SaveStatus != "" {
		return false
	}
	r.state.Status, r.values = next.Status, values
	return true
}

func (r *replay) measured(d *algorithm.Decision) []storedValue {
	values := make([]storedValue, len(d.Metrics))
	for i := range d.Metrics {
		if d.Metrics[i].Err == nil {
			m := &r.spec.Metrics[i]
			values[i] = storedValue{string(m.Type), m.Name, m.Container, d.Metrics[i].Current}
		}
	}
	return values
}

func (result *Result) showStatus(status *algorithm.Status) {
	result.DesiredReplicas = status.DesiredReplicas
	result.CurrentReplicas = status.CurrentReplicas
	result.Conditions = make(map[string][2]string)
	for i, c := range status.Conditions {
		if c.Status != "" {
			result.Conditions[algorithm.ConditionType(i).String()] = [2]string{string(c.Status), c.Reason}
		}
	}
}

func metricResults(d *algorithm.Decision) []MetricResult {
	if !d.MetricsEvaluated {
		return nil
	}
	results := make([]MetricResult, len(d.Metrics))
	for i := range d.Metrics {
		m := &d.Metrics[i]
		if m.Err != nil {
			results[i] = MetricResult{Action: none, Error: internalError}
			if errors.Is(m.Err, algorithm.ErrMetricType) {
				results[i].Error = specError
			}
			continue
		}
		results[i] = MetricResult{
			Action: action(d.PreviousReplicas, m.Proposal), Proposal: &m.Proposal,
		}
		results[i].show(&m.Current)
	}
	return results
}

func events(d *algorithm.Decision, writeErr error, saved bool) []string {
	var texts []string
	for _, e := range d.Events(writeErr) {
		kind := "Normal:"
		if e.Warning {
			kind = "Warning:"
		}
		texts = append(texts, kind+e.Reason)
	}
	if !saved {
		texts = append(texts, "Warning:"+algorithm.ReasonFailedUpdateStatus)
	}
	return texts
}

func (r *MetricResult) show(c *algorithm.CurrentValue) {
	if c.HasUtilization {
		r.AverageUtilization = &c.Utilization
	}
	if c.HasAverage {
		r.AverageValue = (*int64)(&c.Average)
	}
	if c.HasValue {
		r.Value = (*int64)(&c.Value)
	}
}
