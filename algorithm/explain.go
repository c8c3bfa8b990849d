package algorithm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Explain is the trace of the decision for people: one line per step, in the order the steps were
// taken, from what each metric saw to what comes of it. The spec is the one decided upon.
//
//	cpu: 80 % of the request, target value 50 %: usage ratio 1.60, 3 instances ready, asks for 5
//	policy: at most 4 instances in 15s: up to 7
//	result: 3 → 5, cpu resource utilization (percentage of request) above target
func (d *Decision) Explain(spec *Spec) []string {
	if !spec.complete {
		completed := spec.WithDefaults()
		spec = &completed
	}
	t := trace{d: d, spec: spec}
	t.target()
	t.metrics()
	if d.Recommended {
		t.window()
		t.policies()
		t.bound()
	}
	t.result()
	return t.lines
}

// trace is an Explain in progress.
type trace struct {
	d     *Decision
	spec  *Spec
	lines []string
}

func (t *trace) add(step, format string, args ...any) {
	t.lines = append(t.lines, step+": "+fmt.Sprintf(format, args...))
}

// target says what was found, where that matters or decided at once.
func (t *trace) target() {
	d := t.d
	switch {
	case d.Path == PathTargetFailed:
		t.add("target", "cannot be read: %v", d.Err)
	case d.Path == PathDisabled && t.spec.ScaleToZero && t.spec.MinReplicas == 0 && !t.spec.total:
		t.add("target", "at 0 replicas, and no object or external metric to bring it back: left alone")
	case d.Path == PathDisabled:
		t.add("target", "at 0 replicas, where this workload did not bring it: left alone")
	case d.Path == PathAboveMax:
		t.add("bound", "%d replicas are more than max_replicas %d, no metric is asked",
			d.SpecReplicas, t.spec.MaxReplicas)
	case d.Path == PathBelowMin:
		t.add("bound", "%d replicas are fewer than min_replicas %d, no metric is asked",
			d.SpecReplicas, t.spec.MinReplicas)
	case d.Selector != SelectorOK:
		t.add("target", "%v: no metric is asked", d.Err)
	case d.StatusReplicas != d.SpecReplicas:
		t.add("target", "%d replicas wanted, %d there", d.SpecReplicas, d.StatusReplicas)
	}
}

// metrics has one line per metric, and one about the list if it is longer than that.
func (t *trace) metrics() {
	n := min(len(t.d.Metrics), len(t.spec.Metrics))
	failed := 0
	for i := range n {
		m, r := &t.spec.Metrics[i], &t.d.Metrics[i]
		if r.Err != nil {
			failed++
			t.add(m.title(), "failed (%s): %v", r.Reason, unnamed(r.Err))
			continue
		}
		t.add(m.title(), "%s", t.explainMetric(m, r))
	}
	if n > 1 {
		t.list(n, failed)
	}
}

// title is how a trace calls a metric.
func (m *Metric) title() string {
	if m.Type == TypeContainerResource {
		return m.Name + " of container " + m.Container
	}
	return m.Name
}

// unnamed takes the metric's name off its error: the line begins with it.
func unnamed(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// list says which metric of several counts.
func (t *trace) list(n, failed int) {
	if t.d.Winner < 0 || t.d.Winner >= n {
		t.add("metrics", "all %d failed, nothing is changed", n)
		return
	}
	won := t.d.Metrics[t.d.Winner].Proposal
	most := fmt.Sprintf("%s asks for most, %d", t.spec.Metrics[t.d.Winner].title(), won)
	switch {
	case failed == 0:
		t.add("metrics", "%s", most)
	case t.d.Recommended:
		t.add("metrics", "%d of %d failed, which blocks only scaling down; %s", failed, n, most)
	default:
		t.add("metrics", "%d of %d failed, which blocks scaling down to %d", failed, n, won)
	}
}

// window says which earlier recommendation held this one back, and since when.
func (t *trace) window() {
	d, st := t.d, &t.d.Stabilization
	if !st.Held {
		return
	}
	switch {
	case st.Result < d.Recommendation:
		t.held("scale up", st.Low, st.LowSince)
	case st.Result <= d.SpecReplicas:
		t.held("scale down", st.High, st.HighSince)
	default:
		t.add("window", "goes up to %d, recommended %s, not to the %d of now",
			st.Result, t.ago(st.HighSince), d.Recommendation)
	}
}

func (t *trace) held(what string, recommended int32, since time.Time) {
	result := t.d.Stabilization.Result
	if since.Equal(t.d.Time) {
		t.add("window", "%s held at %d, the count this first evaluation found", what, result)
		return
	}
	if recommended == result {
		t.add("window", "%s held at %d, recommended %s", what, result, t.ago(since))
		return
	}
	t.add("window", "%s to %d held at %d, for %d was recommended %s",
		what, t.d.Recommendation, result, recommended, t.ago(since))
}

// policies says how far the policies of the direction let the count go.
func (t *trace) policies() {
	d := t.d
	up := d.Stabilization.Result > d.SpecReplicas
	switch {
	case t.spec.Behavior == nil || d.Stabilization.Result == d.SpecReplicas:
		return
	case up && t.spec.Behavior.ScaleUp.SelectPolicy == SelectDisabled:
		t.add("policy", "scaling up is disabled")
		return
	case !up && t.spec.Behavior.ScaleDown.SelectPolicy == SelectDisabled:
		t.add("policy", "scaling down is disabled")
		return
	}
	limits := make([]int32, len(d.Limit.Policies))
	for i := range d.Limit.Policies {
		t.policy(&d.Limit.Policies[i], up)
		limits[i] = d.Limit.Policies[i].Limit
	}
	if len(limits) > 1 && slices.Min(limits) != slices.Max(limits) {
		t.selectPolicy(up)
	}
}

func (t *trace) policy(p *PolicyResult, up bool) {
	unit, way := "instances", "down to"
	if p.Policy.Type == PolicyPercent {
		unit = "%"
	} else if p.Policy.Value == 1 {
		unit = "instance"
	}
	if up {
		way = "up to"
	}
	start := ""
	if p.Start != t.d.SpecReplicas {
		start = fmt.Sprintf(", counted from %d", p.Start)
	}
	t.add("policy", "at most %d %s in %s%s: %s %d",
		p.Policy.Value, unit, shortly(p.Policy.Period), start, way, p.Limit)
}

func (t *trace) selectPolicy(up bool) {
	rules := &t.spec.Behavior.ScaleDown
	if up {
		rules = &t.spec.Behavior.ScaleUp
	}
	which := "largest"
	if rules.SelectPolicy == SelectMin {
		which = "smallest"
	}
	t.add("policy", "the one that allows the %s change counts", which)
}

// bound says what cut the stabilized recommendation.
func (t *trace) bound() {
	d := t.d
	from := d.Stabilization.Result
	switch d.Limit.Reason {
	case ReasonTooManyReplicas:
		t.add("bound", "%d instead of %d, max_replicas", d.Limit.Cap, from)
	case ReasonTooFewReplicas:
		t.add("bound", "%d instead of %d, min_replicas", d.Limit.Cap, from)
	case ReasonScaleUpLimit:
		if t.spec.Behavior == nil {
			t.add("bound", "%d instead of %d, one step at most doubles the replicas or reaches 4",
				d.Limit.Cap, from)
		}
	}
	if d.RaisedToMin {
		t.add("bound", "%d, min_replicas, coming back from 0", d.Desired)
	}
}

func (t *trace) result() {
	d := t.d
	switch {
	case d.Path == PathTargetFailed:
		t.add("result", "nothing is changed")
	case !d.Rescale:
		t.add("result", "stays at %d%s", d.Desired, t.stays())
	case d.Reason == "":
		t.add("result", "%d → %d", d.SpecReplicas, d.Desired)
	default:
		t.add("result", "%d → %d, %s", d.SpecReplicas, d.Desired, d.Reason)
	}
}

// stays names what kept a recommendation from being followed.
func (t *trace) stays() string {
	d := t.d
	switch {
	case !d.Recommended || d.Recommendation == d.SpecReplicas:
		return ""
	case d.Limit.Limited:
		return fmt.Sprintf(", %s", limitMessage(d.Limit.Reason))
	}
	return ""
}

// ago is the age of something remembered, in words.
func (t *trace) ago(since time.Time) string {
	age := t.d.Time.Sub(since).Round(time.Second)
	if age <= 0 {
		return "just now"
	}
	var words []string
	for _, unit := range []struct {
		width time.Duration
		name  string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		n := int(age / unit.width)
		age %= unit.width
		if n > 0 {
			words = append(words, count(n, unit.name))
		}
	}
	return strings.Join(words, " ") + " ago"
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shortly is a duration as it is written in the configuration: 15s, 5m, not 5m0s.
func shortly(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
