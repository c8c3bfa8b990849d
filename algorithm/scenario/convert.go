package scenario

import (
	"errors"
	"strings"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// settings are the daemon-wide numbers, which only the first workload can set.
func (w *Workload) settings() algorithm.Settings {
	s := algorithm.DefaultSettings()
	s.Tolerance = or(w.Tolerance, s.Tolerance)
	for _, period := range []struct {
		to   *time.Duration
		from *Seconds
	}{
		{&s.DownscaleStabilization, w.DownscaleStabilization},
		{&s.CPUInitializationPeriod, w.CPUInitializationPeriod},
		{&s.InitialReadinessDelay, w.InitialReadinessDelay},
	} {
		if period.from != nil {
			*period.to = period.from.duration()
		}
	}
	return s
}

func (w *Workload) spec(settings algorithm.Settings) algorithm.Spec {
	spec := algorithm.Spec{
		MinReplicas: or(w.MinReplicas, algorithm.DefaultMinReplicas),
		MaxReplicas: or(w.MaxReplicas, 0),
		ScaleToZero: w.ScaleToZero,
		Settings:    settings,
	}
	for _, m := range w.Metrics {
		spec.Metrics = append(spec.Metrics, algorithm.Metric{
			Type: metricType(m.Type), Name: m.Name, Container: m.Container, Object: "Service",
			Target: algorithm.TargetValue{Kind: targetKinds[m.Target.Type], Value: m.Target.Value},
		})
	}
	if w.Behavior != nil {
		tolerances := or(w.ConfigurableTolerance, true)
		spec.Behavior = &algorithm.Behavior{
			ScaleUp:   w.Behavior.ScaleUp.rules(tolerances),
			ScaleDown: w.Behavior.ScaleDown.rules(tolerances),
		}
	}
	return spec.WithDefaults()
}

func (r *Rules) rules(tolerances bool) algorithm.Rules {
	if r == nil {
		return algorithm.Rules{}
	}
	rules := algorithm.Rules{SelectPolicy: selectPolicies[r.SelectPolicy]}
	if r.StabilizationWindow != nil {
		window := r.StabilizationWindow.duration()
		rules.StabilizationWindow = &window
	}
	if r.Tolerance != nil && tolerances {
		if t, err := algorithm.ParseTolerance(*r.Tolerance); err == nil {
			rules.Tolerance = &t
		}
	}
	if r.Policies != nil {
		rules.Policies = make([]algorithm.Policy, len(r.Policies))
	}
	for i, p := range r.Policies {
		rules.Policies[i] = algorithm.Policy{
			Type: policyTypes[p.Type], Value: p.Value, Period: p.Period.duration(),
		}
	}
	return rules
}

func (in *Initial) state(now time.Time) algorithm.State {
	var state algorithm.State
	if in == nil {
		return state
	}
	state.Memory.Begun = in.Recommendations != nil || in.NoInitialRecommendation
	for _, r := range in.Recommendations {
		state.Memory.Recommendations = append(state.Memory.Recommendations,
			algorithm.Recommendation{Replicas: r.Replicas, Time: algorithm.InstantOf(r.At.moment())})
	}
	state.Memory.ScaleUps = scaleEvents(in.ScaleUpEvents)
	state.Memory.ScaleDowns = scaleEvents(in.ScaleDownEvents)
	state.Status.CurrentReplicas = in.StatusCurrentReplicas
	state.Status.DesiredReplicas = in.StatusDesiredReplicas
	if in.ScaledToZero != nil {
		condition := algorithm.Condition{
			Status: algorithm.ConditionFalse, Reason: algorithm.ReasonNotScaledToZero, Since: now,
		}
		if *in.ScaledToZero {
			condition.Status, condition.Reason = algorithm.ConditionTrue, algorithm.ReasonScaledToZero
		}
		state.Status.Conditions[algorithm.ScaledToZero] = condition
	}
	return state
}

func scaleEvents(changes []Change) []algorithm.ScaleEvent {
	var events []algorithm.ScaleEvent
	for _, c := range changes {
		events = append(events, algorithm.ScaleEvent{Replicas: c.Replicas, Time: algorithm.InstantOf(c.At.moment())})
	}
	return events
}

func (in *Instance) instance(defaults Requests) algorithm.Instance {
	out := algorithm.Instance{
		ID: in.ID, Deleting: in.Deleting,
		Phase: phases[in.Phase], Ready: readinesses[in.Ready],
	}
	if in.Started != nil {
		out.Started = in.Started.moment()
		out.ReadyTransition = out.Started
	}
	if in.ReadyTransition != nil {
		out.ReadyTransition = in.ReadyTransition.moment()
	}
	containers := in.containers(defaults)
	for _, c := range containers {
		if c.Kind != kindInit {
			out.Containers = append(out.Containers,
				algorithm.Container{Name: c.Name, Requests: c.Requests.list()})
		}
	}
	out.Requests = wholeRequests(in.InstanceRequests, containers).list()
	return out
}

func (in *Instance) containers(defaults Requests) []Container {
	if in.Containers != nil {
		return in.Containers
	}
	requests := in.Requests
	if requests == nil {
		requests = defaults
	}
	return []Container{{Name: kindMain, Requests: requests}}
}

// wholeRequests are those of an instance that declares some for itself: its own, and for every
// other resource what its containers need at most at one time (docs/semantics.md, section 8).
func wholeRequests(declared Requests, containers []Container) Requests {
	whole := Requests{}
	for resource, amount := range declared {
		if resource == "cpu" || resource == "memory" || strings.HasPrefix(resource, "hugepages-") {
			whole[resource] = amount
		}
	}
	if len(whole) == 0 {
		return nil
	}
	for _, c := range containers {
		for resource := range c.Requests {
			if _, ok := whole[resource]; !ok {
				whole[resource] = peak(containers, resource)
			}
		}
	}
	return whole
}

// peak is what the containers need of a resource while they run, or while they start one after the
// other if that is more.
func peak(containers []Container, resource string) int64 {
	var running, starting, sidecars int64
	for _, c := range containers {
		amount := c.Requests[resource]
		switch c.Kind {
		case kindInit:
			starting = max(starting, sidecars+amount)
		case kindSidecar:
			sidecars += amount
			running += amount
		default:
			running += amount
		}
	}
	return max(running, starting)
}

func (r Requests) list() []algorithm.Request {
	var list []algorithm.Request
	for resource, amount := range r {
		list = append(list, algorithm.Request{Resource: resource, Value: algorithm.Quantity(amount)})
	}
	return list
}

// reading joins the samples of one metric to the instances; position is where each is listed.
func (r *Reading) reading(m *Metric, now time.Time, position map[string]int) algorithm.Reading {
	if r.Error != "" {
		return algorithm.Reading{Err: errors.New(r.Error)}
	}
	var out algorithm.Reading
	if total(m.Type) {
		for _, v := range r.Values {
			out.Values = append(out.Values, algorithm.Quantity(v.Value))
		}
		return out
	}
	out.PerInstance = make([]algorithm.Sample, len(position))
	for _, v := range r.Values {
		sample := algorithm.Sample{
			Present: true, Value: algorithm.Quantity(v.Value), Time: now,
			Window: or(v.Window, 60).duration(),
		}
		if v.Timestamp != nil {
			sample.Time = v.Timestamp.moment()
		}
		if i, listed := position[v.Instance]; listed {
			out.PerInstance[i] = sample
		} else {
			out.Unlisted = append(out.Unlisted, sample)
		}
	}
	return out
}
