package algorithm_test

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// twin is the algorithm once more, slow and obvious: written from docs/semantics.md in another
// style, with maps, lists and big numbers, step by step. TestTwinAgrees compares the two. The
// section numbers are those of the document.
type twin struct {
	begun           bool
	recommendations []twinEntry
	ups, downs      []twinEntry
	conditions      map[string]string // type → "status reason"
	since           map[string]time.Time
	current         int32
	desired         int32
	lastScale       time.Time

	// Of the evaluation in progress.
	now  time.Time
	spec twinSpec
	obs  *algorithm.Observation
	out  twinOutcome
}

type twinEntry struct {
	Replicas int32
	Time     time.Time
	Outdated bool
}

// twinOutcome is what is compared with a Decision.
type twinOutcome struct {
	Desired        int32
	Rescale        bool
	Reason         string
	Failed         bool
	Recommendation string // empty if none was recorded
	Metrics        []twinMetric
	Events         []string
}

// twinMetric is what one metric asked for.
type twinMetric struct {
	Failure            string
	Proposal           int32
	Utilization, Value string
	Average            string
}

// forget is a restart: what is in memory is lost.
func (w *twin) forget() {
	w.begun, w.recommendations, w.ups, w.downs = false, nil, nil, nil
}

func (w *twin) condition(name, status, reason string) {
	if w.conditions[name] == "" || w.conditions[name][:len(status)] != status {
		w.since[name] = w.now
	}
	w.conditions[name] = status + " " + reason
}

func (w *twin) event(text string) { w.out.Events = append(w.out.Events, text) }

// step is section 4, with the writing of section 17.
func (w *twin) step(now time.Time, spec algorithm.Spec, obs *algorithm.Observation, writeErr error) twinOutcome {
	w.now, w.spec, w.obs = now, twinDefaults(spec), obs
	w.out = twinOutcome{Desired: obs.SpecReplicas}
	if obs.TargetErr != nil {
		w.condition("AbleToScale", "False", "FailedGetScale")
		w.event("Warning FailedGetScale")
		w.out.Failed = true
		return w.out
	}
	w.condition("AbleToScale", "True", "SucceededGetScale")
	justBegun := !w.begun
	if !w.begun {
		w.begun = true
		w.recommendations = []twinEntry{{Replicas: obs.SpecReplicas, Time: now}}
	}
	s := obs.SpecReplicas
	w.current = s
	desired, reason, stop := s, "", false
	if s == 0 && !w.comesBack() {
		w.condition("ScalingActive", "False", "ScalingDisabled")
		if !w.spec.toZero {
			delete(w.conditions, "ScaledToZero")
		}
	} else if s > w.spec.max && s != 0 {
		desired, reason = w.spec.max, "Current number of replicas above Spec.MaxReplicas"
	} else if s < w.spec.min && s != 0 {
		desired, reason = w.spec.min, "Current number of replicas below Spec.MinReplicas"
	} else {
		desired, reason, stop = w.byMetrics(justBegun)
	}
	if stop {
		return w.out
	}
	if desired == s {
		w.desired = s
		return w.out
	}
	w.out.Desired, w.out.Rescale, w.out.Reason = desired, true, reason
	w.write(desired, reason, writeErr)
	return w.out
}

func (w *twin) comesBack() bool {
	wentByItself := w.spec.toZero && len(w.conditions["ScaledToZero"]) > 4 && w.conditions["ScaledToZero"][:4] == "True"
	return wentByItself && (w.spec.min != 0 || w.spec.hasTotal())
}

// write is sections 16 and 17.
func (w *twin) write(desired int32, reason string, writeErr error) {
	s := w.obs.SpecReplicas
	if writeErr != nil {
		w.condition("AbleToScale", "False", "FailedUpdateScale")
		w.event(fmt.Sprintf("Warning FailedRescale New size: %d; reason: %s; error: %v", desired, reason, writeErr))
		return
	}
	w.condition("AbleToScale", "True", "SucceededRescale")
	w.event(fmt.Sprintf("Normal SuccessfulRescale New size: %d; reason: %s", desired, reason))
	if w.spec.behavior {
		if desired > s {
			w.ups = addEvent(w.ups, w.now, w.spec.up.policies, desired-s)
		} else {
			w.downs = addEvent(w.downs, w.now, w.spec.down.policies, s-desired)
		}
	}
	switch {
	case !w.spec.toZero:
		delete(w.conditions, "ScaledToZero")
	case s > 0 && desired == 0 && w.spec.min == 0 && w.spec.hasTotal():
		w.condition("ScaledToZero", "True", "ScaledToZero")
	default:
		w.condition("ScaledToZero", "False", "NotScaledToZero")
	}
	w.desired, w.lastScale = desired, w.now
}

func addEvent(list []twinEntry, now time.Time, policies []algorithm.Policy, replicas int32) []twinEntry {
	longest := time.Duration(0)
	for _, p := range policies {
		if p.Period > longest {
			longest = p.Period
		}
	}
	at := len(list)
	for i := range list {
		if now.Sub(list[i].Time) > longest {
			list[i].Outdated = true
		}
		if list[i].Outdated {
			at = i
		}
	}
	return put(list, at, twinEntry{Replicas: replicas, Time: now})
}

// put sets entry i of a list, or appends it.
func put(list []twinEntry, i int, e twinEntry) []twinEntry {
	if i == len(list) {
		return append(list, e)
	}
	list[i] = e
	return list
}

// byMetrics is sections 4.5 and 5.
func (w *twin) byMetrics(justBegun bool) (desired int32, reason string, stop bool) {
	s := w.obs.SpecReplicas
	selector := map[algorithm.Selector][2]string{
		algorithm.SelectorMissing:   {"SelectorRequired", "InvalidSelector"},
		algorithm.SelectorInvalid:   {"InvalidSelector", "InvalidSelector"},
		algorithm.SelectorAmbiguous: {"AmbiguousSelector", "AmbiguousSelector"},
	}
	if names, bad := selector[w.obs.Selector]; bad {
		w.event("Warning " + names[0])
		w.event("Warning FailedComputeMetricsReplicas")
		w.condition("ScalingActive", "False", names[1])
		w.out.Failed = true
		return 0, "", true
	}
	m, name, failures := w.askAll()
	if len(failures) > 0 {
		w.out.Failed = true
		if len(failures) == len(w.spec.metrics) || m < s {
			w.condition("ScalingActive", "False", failures[0])
			w.event("Warning FailedComputeMetricsReplicas")
			return 0, "", true
		}
	}
	w.condition("ScalingActive", "True", "ValidMetricFound")
	raw := m
	if raw < 0 {
		raw = 0
	}
	if raw > s {
		reason = name + " above target"
	} else if raw < s {
		reason = "All metrics below target"
	}
	w.out.Recommendation = fmt.Sprint(raw)
	if w.spec.behavior {
		desired = w.limitByPolicies(w.stabilizeBoth(raw))
	} else {
		desired = w.limitPlain(w.stabilizePlain(raw, justBegun))
	}
	if s == 0 && w.spec.min != 0 && desired < w.spec.min {
		desired = w.spec.min
		if reason == "" {
			reason = "Current number of replicas below Spec.MinReplicas"
		}
	}
	return desired, reason, false
}

// askAll asks every metric, and takes the highest proposal of those that worked.
func (w *twin) askAll() (m int32, name string, failures []string) {
	for i, metric := range w.spec.metrics {
		var reading algorithm.Reading
		if i < len(w.obs.Readings) {
			reading = w.obs.Readings[i]
		}
		r := w.ask(metric, reading)
		w.out.Metrics = append(w.out.Metrics, r)
		if r.Failure != "" {
			failures = append(failures, r.Failure)
			w.event("Warning " + r.Failure)
			continue
		}
		if m == 0 || r.Proposal > m {
			m, name = r.Proposal, twinName(metric)
		}
	}
	return m, name, failures
}

// stabilizePlain is section 13, steps 1 to 3.
func (w *twin) stabilizePlain(raw int32, justBegun bool) int32 {
	window := w.spec.window
	highest, at := raw, len(w.recommendations)
	for i, r := range w.recommendations {
		if now := w.now.Sub(r.Time); now <= window && !(justBegun && window == 0) {
			highest = max(highest, r.Replicas)
		} else {
			at = i
		}
	}
	w.recommendations = put(w.recommendations, at, twinEntry{Replicas: raw, Time: w.now})
	if highest != raw {
		w.condition("AbleToScale", "True", "ScaleDownStabilized")
	} else {
		w.condition("AbleToScale", "True", "ReadyForNewScale")
	}
	return highest
}

// limitPlain is section 13, steps 4 to 6.
func (w *twin) limitPlain(stabilized int32) int32 {
	limit := int64(w.obs.SpecReplicas) * 2
	if limit < 4 {
		limit = 4
	}
	ceiling, why := int64(w.spec.max), "TooManyReplicas"
	if ceiling > limit {
		ceiling, why = limit, "ScaleUpLimit"
	}
	if stabilized < w.spec.min {
		return w.cut(w.spec.min, "TooFewReplicas")
	}
	if int64(stabilized) > ceiling {
		return w.cut(int32(ceiling), why)
	}
	return w.uncut(stabilized)
}

func (w *twin) cut(to int32, why string) int32 {
	w.condition("ScalingLimited", "True", why)
	return to
}

func (w *twin) uncut(n int32) int32 {
	w.condition("ScalingLimited", "False", "DesiredWithinRange")
	return n
}

// stabilizeBoth is section 14.
func (w *twin) stabilizeBoth(raw int32) int32 {
	s, low, high, at := w.obs.SpecReplicas, raw, raw, len(w.recommendations)
	for i, r := range w.recommendations {
		age := w.now.Sub(r.Time)
		if age < w.spec.up.window && r.Replicas < low {
			low = r.Replicas
		}
		if age < w.spec.down.window && r.Replicas > high {
			high = r.Replicas
		}
		if age > w.spec.up.window && age > w.spec.down.window {
			at = i
		}
	}
	w.recommendations = put(w.recommendations, at, twinEntry{Replicas: raw, Time: w.now})
	result := s
	if result < low {
		result = low
	}
	if result > high {
		result = high
	}
	why := "ScaleDownStabilized"
	if raw >= s {
		why = "ScaleUpStabilized"
	}
	if result == raw {
		why = "ReadyForNewScale"
	}
	w.condition("AbleToScale", "True", why)
	return result
}

// limitByPolicies is section 15.
func (w *twin) limitByPolicies(d int32) int32 {
	s := w.obs.SpecReplicas
	if d > s {
		limit := w.policyLimit(w.spec.up, "up")
		if limit < s {
			limit = s
		}
		ceiling, why := w.spec.max, "TooManyReplicas"
		if w.spec.max > limit {
			ceiling, why = limit, "ScaleUpLimit"
		}
		if d > ceiling {
			return w.cut(ceiling, why)
		}
	}
	if d < s {
		limit := w.policyLimit(w.spec.down, "down")
		if limit > s {
			limit = s
		}
		floor, why := w.spec.min, "TooFewReplicas"
		if w.spec.min < limit {
			floor, why = limit, "ScaleDownLimit"
		}
		if d < floor {
			return w.cut(floor, why)
		}
	}
	return w.uncut(d)
}

func (w *twin) policyLimit(rules twinRules, way string) int32 {
	if rules.selects == algorithm.SelectDisabled {
		return w.obs.SpecReplicas
	}
	var limits []int32
	for _, p := range rules.policies {
		start := wrap(32, big.NewInt(int64(w.obs.SpecReplicas)-w.changed(w.ups, p)+w.changed(w.downs, p)))
		v := int64(p.Value)
		switch {
		case p.Type == algorithm.PolicyPercent && way == "up":
			limits = append(limits, twinInt32(math.Ceil(float64(start)*(1+float64(v)/100))))
		case p.Type == algorithm.PolicyPercent:
			limits = append(limits, twinInt32(math.Trunc(float64(start)*(1-float64(v)/100))))
		case way == "up":
			limits = append(limits, int32(wrap(32, big.NewInt(start+v))))
		default:
			limits = append(limits, int32(wrap(32, big.NewInt(start-v))))
		}
	}
	most, least := int32(math.MinInt32), int32(math.MaxInt32)
	for _, l := range limits {
		most, least = max(most, l), min(least, l)
	}
	if (way == "up") == (rules.selects != algorithm.SelectMin) {
		return most
	}
	return least
}

func (w *twin) changed(events []twinEntry, p algorithm.Policy) (sum int64) {
	for _, e := range events {
		if w.now.Sub(e.Time) < p.Period {
			sum += int64(e.Replicas)
		}
	}
	return sum
}

// wrap is what is left of a number in so many bits, signed.
func wrap(bits uint, n *big.Int) int64 {
	size := new(big.Int).Lsh(big.NewInt(1), bits)
	n = new(big.Int).Mod(n, size)
	if n.Cmp(new(big.Int).Rsh(size, 1)) >= 0 {
		n.Sub(n, size)
	}
	return n.Int64()
}

// twinInt32 is the nearest int32 of a float without fraction; 0 for what is no number.
func twinInt32(f float64) int32 {
	if math.IsNaN(f) {
		return 0
	}
	return int32(math.Min(math.Max(f, math.MinInt32), math.MaxInt32))
}
