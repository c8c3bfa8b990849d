package algorithm_test

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// twinSpec is a Spec with section 2.2 applied, by hand.
type twinSpec struct {
	min, max int32
	metrics  []algorithm.Metric
	toZero   bool
	behavior bool
	up, down twinRules
	window   time.Duration
	settings algorithm.Settings
}

type twinRules struct {
	window    time.Duration
	selects   algorithm.SelectPolicy
	tolerance float64
	policies  []algorithm.Policy
}

func twinDefaults(s algorithm.Spec) twinSpec {
	out := twinSpec{
		min: s.MinReplicas, max: s.MaxReplicas, metrics: s.Metrics, toZero: s.ScaleToZero,
		behavior: s.Behavior != nil, window: s.Settings.DownscaleStabilization, settings: s.Settings,
	}
	if len(out.metrics) == 0 {
		out.metrics = []algorithm.Metric{{
			Type: "resource", Name: "cpu", Target: algorithm.TargetValue{Kind: "average_utilization", Value: 80},
		}}
	}
	out.up = twinRules{tolerance: s.Settings.Tolerance, selects: "max", policies: []algorithm.Policy{
		{Type: "instances", Value: 4, Period: 15 * time.Second},
		{Type: "percent", Value: 100, Period: 15 * time.Second},
	}}
	out.down = twinRules{tolerance: s.Settings.Tolerance, selects: "max", policies: []algorithm.Policy{
		{Type: "percent", Value: 100, Period: 15 * time.Second},
	}, window: time.Duration(int64(s.Settings.DownscaleStabilization.Seconds())) * time.Second}
	if s.Behavior != nil {
		out.up.take(s.Behavior.ScaleUp)
		out.down.take(s.Behavior.ScaleDown)
	}
	return out
}

func (r *twinRules) take(given algorithm.Rules) {
	if given.StabilizationWindow != nil {
		r.window = *given.StabilizationWindow
	}
	if given.SelectPolicy != "" {
		r.selects = given.SelectPolicy
	}
	if given.Tolerance != nil {
		r.tolerance = *given.Tolerance
	}
	if given.Policies != nil {
		r.policies = given.Policies
	}
}

func (s twinSpec) hasTotal() bool {
	for _, m := range s.metrics {
		if m.Type == "object" || m.Type == "external" {
			return true
		}
	}
	return false
}

// twinName is the metric in reasons (section 19).
func twinName(m algorithm.Metric) string {
	object := m.Object
	if object == "" {
		object = "object"
	}
	return map[string]string{
		"resource average_utilization": m.Name + " resource utilization (percentage of request)",
		"resource average_value":       m.Name + " resource",
		"container_resource average_utilization": m.Name +
			" container resource utilization (percentage of request)",
		"container_resource average_value": m.Name + " resource",
		"instances average_value":          "pods metric " + m.Name,
		"object value":                     object + " metric " + m.Name,
		"object average_value":             "external metric " + m.Name + "(nil)",
		"external value":                   "external metric " + m.Name + "(nil)",
		"external average_value":           "external metric " + m.Name + "(nil)",
	}[string(m.Type)+" "+string(m.Target.Kind)]
}

var twinFailures = map[algorithm.MetricType]string{
	"resource": "FailedGetResourceMetric", "container_resource": "FailedGetContainerResourceMetric",
	"instances": "FailedGetPodsMetric", "object": "FailedGetObjectMetric", "external": "FailedGetExternalMetric",
}

// ask is sections 9 to 12.
func (w *twin) ask(m algorithm.Metric, reading algorithm.Reading) twinMetric {
	failure := twinFailures[m.Type]
	if failure == "" {
		return twinMetric{Failure: "InvalidMetricSourceType"}
	}
	failed := twinMetric{Failure: failure}
	if reading.Err != nil || twinName(m) == "" {
		return failed
	}
	if m.Type == "object" || m.Type == "external" {
		if len(reading.Values) == 0 || m.Type == "object" && len(reading.Values) != 1 {
			return failed
		}
		if m.Target.Kind == "value" {
			return w.askValue(m, reading.Values, failed)
		}
		return w.askShare(m, reading.Values)
	}
	return w.askInstances(m, reading, failed)
}

func (w *twin) within(ratio float64) bool {
	return ratio >= 1.0-w.spec.down.tolerance && ratio <= 1.0+w.spec.up.tolerance
}

// askValue is section 11.
func (w *twin) askValue(m algorithm.Metric, values []algorithm.Quantity, failed twinMetric) twinMetric {
	sum := big.NewInt(0)
	for _, v := range values {
		next := new(big.Int).Add(sum, big.NewInt(int64(v)))
		if v > 0 && !next.IsInt64() {
			sum = big.NewInt(math.MaxInt64)
			break
		}
		sum = big.NewInt(wrap(64, next))
	}
	v := sum.Int64()
	out := twinMetric{Value: fmt.Sprint(v)}
	ratio := float64(v) / float64(m.Target.Value)
	if w.obs.SpecReplicas == 0 {
		out.Proposal = twinInt32(math.Ceil(ratio))
		return out
	}
	if w.within(ratio) {
		out.Proposal = w.obs.SpecReplicas
		return out
	}
	ready := 0
	for _, in := range w.obs.Instances {
		if in.Phase == algorithm.PhaseRunning && in.Ready == algorithm.Ready {
			ready++
		}
	}
	if len(w.obs.Instances) == 0 {
		return failed
	}
	out.Proposal = twinInt32(math.Ceil(ratio * float64(ready)))
	return out
}

// askShare is section 12.
func (w *twin) askShare(m algorithm.Metric, values []algorithm.Quantity) twinMetric {
	v := int64(values[0])
	if m.Type == "external" {
		sum := big.NewInt(0)
		for _, value := range values {
			sum = big.NewInt(wrap(64, sum.Add(sum, big.NewInt(int64(value)))))
			if sum.Sign() < 0 {
				sum = big.NewInt(math.MaxInt64)
				break
			}
		}
		v = sum.Int64()
	}
	status := w.obs.StatusReplicas
	var out twinMetric
	if status != 0 {
		average := new(big.Float).SetFloat64(math.Ceil(float64(v) / float64(status)))
		n, _ := average.Int(nil)
		if !n.IsInt64() {
			n = big.NewInt(math.MaxInt64)
		}
		if m.Type == "external" && float64(v) >= math.Pow(2, 63) {
			n = big.NewInt(math.MaxInt64)
		}
		out.Average = n.String()
	}
	if w.within(float64(v) / (float64(m.Target.Value) * float64(status))) {
		out.Proposal = status
		return out
	}
	out.Proposal = twinInt32(math.Ceil(float64(v) / float64(m.Target.Value)))
	return out
}

// twinTable is a metric's samples and requests by instance.
type twinTable struct {
	values, requests map[string]int64
	target           int64
	percent          bool
}

// ratio returns what is compared with the target value, the average, and the ratio of the two.
func (t twinTable) ratio() (measured, average int64, ratio float64, ok bool) {
	sum, requests, n := new(big.Int), new(big.Int), int64(0)
	for id, value := range t.values {
		request, has := t.requests[id]
		if t.percent && !has {
			continue
		}
		sum.Add(sum, big.NewInt(value))
		requests.Add(requests, big.NewInt(request))
		n++
	}
	total := wrap(64, sum)
	if !t.percent {
		average = total / n
		return average, average, float64(average) / float64(t.target), true
	}
	requested := wrap(64, requests)
	if requested == 0 {
		return 0, 0, 0, false
	}
	scaled := wrap(64, new(big.Int).Mul(big.NewInt(total), big.NewInt(100)))
	quotient := new(big.Int).Quo(big.NewInt(scaled), big.NewInt(requested))
	measured = wrap(32, quotient)
	return measured, total / n, float64(measured) / float64(t.target), true
}

// askInstances is sections 7 to 10.
func (w *twin) askInstances(m algorithm.Metric, reading algorithm.Reading, failed twinMetric) twinMetric {
	percent := m.Target.Kind == "average_utilization"
	table := twinTable{values: map[string]int64{}, requests: map[string]int64{}, percent: percent, target: m.Target.Value}
	if percent { // an int32, says section 9
		table.target = min(max(table.target, math.MinInt32), math.MaxInt32)
	}
	groups := map[string][]string{}
	answered := false
	for i, in := range w.obs.Instances {
		var sample algorithm.Sample
		if i < len(reading.PerInstance) {
			sample = reading.PerInstance[i]
		}
		answered = answered || sample.Present
		group := w.groupOf(m, in, sample)
		groups[group] = append(groups[group], in.ID)
		if group == "ready" {
			table.values[in.ID] = int64(sample.Value)
		}
		if request, ok := twinRequest(m, in); ok {
			table.requests[in.ID] = request
		} else if percent {
			return failed
		}
	}
	for i, sample := range reading.Unlisted {
		if sample.Present {
			answered = true
			table.values[fmt.Sprintf("unlisted %d", i)] = int64(sample.Value)
		}
	}
	if !answered || len(table.values) == 0 || len(w.obs.Instances) == 0 {
		return failed
	}
	measured, average, ratio, ok := table.ratio()
	if !ok {
		return failed
	}
	out := twinMetric{Average: fmt.Sprint(average)}
	if percent {
		out.Utilization = fmt.Sprint(measured)
	}
	proposal, ok := w.settle(table, groups, ratio)
	if !ok {
		return failed
	}
	out.Proposal = proposal
	return out
}

// settle is the decision of section 9, steps 1 to 6.
func (w *twin) settle(t twinTable, groups map[string][]string, ratio float64) (proposal int32, ok bool) {
	s := w.obs.SpecReplicas
	upUnready := len(groups["unready"]) > 0 && ratio > 1
	if !upUnready && len(groups["missing"]) == 0 {
		if w.within(ratio) {
			return s, true
		}
		return twinInt32(math.Ceil(ratio * float64(len(groups["ready"])))), true
	}
	for _, id := range groups["missing"] {
		switch {
		case ratio > 1:
			t.values[id] = 0
		case ratio < 1 && t.percent:
			product := new(big.Int).Mul(big.NewInt(t.requests[id]), big.NewInt(max(100, t.target)))
			t.values[id] = wrap(64, product) / 100
		case ratio < 1:
			t.values[id] = t.target
		}
	}
	if upUnready {
		for _, id := range groups["unready"] {
			t.values[id] = 0
		}
	}
	_, _, settled, ok := t.ratio()
	if !ok {
		return 0, false
	}
	proposal = twinInt32(math.Ceil(settled * float64(len(t.values))))
	switch {
	case w.within(settled), ratio < 1 && settled > 1, ratio > 1 && settled < 1:
		return s, true
	case settled < 1 && proposal > s, settled > 1 && proposal < s:
		return s, true
	}
	return proposal, true
}

// groupOf is section 7, in seconds since the start of the instance.
func (w *twin) groupOf(m algorithm.Metric, in algorithm.Instance, sample algorithm.Sample) string {
	switch {
	case in.Deleting, in.Phase == algorithm.PhaseFailed:
		return "ignored"
	case in.Phase == algorithm.PhasePending:
		return "unready"
	case !sample.Present:
		return "missing"
	case m.Type == "instances", m.Name != "cpu":
		return "ready"
	case in.Ready == algorithm.ReadinessAbsent, in.Started.IsZero():
		return "unready"
	}
	notReady := in.Ready == algorithm.NotReady
	if age := w.now.Sub(in.Started); age < w.spec.settings.CPUInitializationPeriod {
		began := sample.Time.Add(-sample.Window)
		if notReady || began.Before(in.ReadyTransition) {
			return "unready"
		}
		return "ready"
	}
	if notReady && in.ReadyTransition.Sub(in.Started) < w.spec.settings.InitialReadinessDelay {
		return "unready"
	}
	return "ready"
}

// twinRequest is section 8.
func twinRequest(m algorithm.Metric, in algorithm.Instance) (int64, bool) {
	find := func(requests []algorithm.Request) (int64, bool) {
		for _, r := range requests {
			if r.Resource == m.Name {
				return int64(r.Value), true
			}
		}
		return 0, false
	}
	if m.Type == "container_resource" {
		for _, c := range in.Containers {
			if c.Name == m.Container {
				return find(c.Requests)
			}
		}
		return 0, false
	}
	if whole, ok := find(in.Requests); ok {
		return whole, true
	}
	sum := new(big.Int)
	for _, c := range in.Containers {
		request, ok := find(c.Requests)
		if !ok {
			return 0, false
		}
		sum.Add(sum, big.NewInt(request))
	}
	return wrap(64, sum), len(in.Containers) > 0
}
