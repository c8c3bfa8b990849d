package algorithm

import (
	"errors"
	"fmt"
	"math"
)

var errNoAnswer = errors.New("the source answered with nothing")

// recommend fills in what metric i alone asks for.
func (e *evaluation) recommend(i int, r *MetricResult) {
	m := &e.spec.Metrics[i]
	var reading Reading
	if i < len(e.obs.Readings) {
		reading = e.obs.Readings[i]
	}
	err := m.checkTarget()
	if err == nil {
		err = reading.Err
	}
	if err == nil {
		switch m.Type {
		case TypeObject, TypeExternal:
			err = e.recommendTotal(m, reading.Values, r)
		default:
			err = e.recommendPerInstance(m, &reading, r)
		}
	}
	if err != nil {
		r.Err = fmt.Errorf("cannot use metric %q: %w", m.Name, err)
		r.Reason = m.failure()
		r.Current = CurrentValue{}
	}
}

// ErrMetricType is in the chain of a metric's error if its type is none of the five.
var ErrMetricType = errors.New("unknown metric type")

// checkTarget refuses a metric nobody validated; section 2.3 says which kinds a type has.
func (m *Metric) checkTarget() error {
	kinds, known := m.Type.targetKinds()
	if !known {
		return fmt.Errorf("%w %q", ErrMetricType, m.Type)
	}
	for _, kind := range kinds {
		if m.Target.Kind == kind {
			return nil
		}
	}
	return fmt.Errorf("no target value that a metric of type %q can have", m.Type)
}

// failure is the reason of ScalingActive and of the event if the metric fails.
func (m *Metric) failure() string {
	switch m.Type {
	case TypeResource:
		return ReasonFailedGetResourceMetric
	case TypeContainerResource:
		return ReasonFailedGetContainerResourceMetric
	case TypeInstances:
		return ReasonFailedGetPodsMetric
	case TypeObject:
		return ReasonFailedGetObjectMetric
	case TypeExternal:
		return ReasonFailedGetExternalMetric
	}
	return ReasonInvalidMetricSourceType
}

// recommendTotal is for object and external metrics: one number for the whole workload.
func (e *evaluation) recommendTotal(m *Metric, values []Quantity, r *MetricResult) error {
	if len(values) == 0 {
		return errNoAnswer
	}
	if m.Type == TypeObject && len(values) > 1 {
		return fmt.Errorf("the source answered with %d values instead of one", len(values))
	}
	if m.Target.Kind == KindValue {
		return e.recommendValue(m, total(values), r)
	}
	v := total(values)
	if m.Type == TypeExternal {
		v = totalNotNegative(values)
	}
	e.recommendShare(m, v, r)
	return nil
}

// total adds the series in order and stops at the largest number that fits.
func total(values []Quantity) int64 {
	var sum int64
	for _, v := range values {
		if v > 0 && sum > math.MaxInt64-int64(v) {
			return math.MaxInt64
		}
		sum += int64(v)
	}
	return sum
}

// totalNotNegative takes every negative sum for an overflow, as the HPA does.
func totalNotNegative(values []Quantity) int64 {
	var sum int64
	for _, v := range values {
		if sum += int64(v); sum < 0 {
			return math.MaxInt64
		}
	}
	return sum
}

// recommendValue is section 11: the total against the target value of the whole.
func (e *evaluation) recommendValue(m *Metric, v int64, r *MetricResult) error {
	r.Current = CurrentValue{HasValue: true, Value: Quantity(v)}
	ratio := float64(v) / float64(m.Target.Value)
	r.UsageRatio, r.SettledRatio = ratio, ratio
	if e.obs.SpecReplicas == 0 {
		r.Proposal = ceil32(ratio)
		return nil
	}
	if e.spec.tolerance.within(ratio) {
		r.keep(KeptWithin, e.obs.SpecReplicas)
		return nil
	}
	if len(e.obs.Instances) == 0 {
		return errNoInstances
	}
	for i := range e.obs.Instances {
		if in := &e.obs.Instances[i]; in.Phase == PhaseRunning && in.Ready == Ready {
			r.Ready++
		}
	}
	r.Proposal = ceil32(ratio * float64(r.Ready))
	return nil
}

// recommendShare is section 12: the total divided by the replicas there are.
func (e *evaluation) recommendShare(m *Metric, v int64, r *MetricResult) {
	status := e.obs.StatusReplicas
	if status != 0 {
		average := saturate64(math.Ceil(float64(v) / float64(status)))
		if m.Type == TypeExternal && float64(v) >= math.MaxInt64 {
			average = math.MaxInt64
		}
		r.Current = CurrentValue{HasAverage: true, Average: Quantity(average)}
	}
	ratio := float64(v) / (float64(m.Target.Value) * float64(status))
	r.UsageRatio, r.SettledRatio = ratio, ratio
	if e.spec.tolerance.within(ratio) {
		r.keep(KeptWithin, status)
		return
	}
	r.Proposal = ceil32(float64(v) / float64(m.Target.Value))
}

func (r *MetricResult) keep(why Kept, replicas int32) {
	r.Kept, r.Proposal = why, replicas
	r.Within = why == KeptWithin
}
