package algorithm

import (
	"errors"
	"fmt"
)

var (
	errNoInstances = errors.New("the target has no instances")
	errNoSamples   = errors.New("did not receive metrics for any ready instance")
	errNoRequests  = errors.New("the instances request nothing of it")
)

// measure sums up the samples of a metric's instances; sums wrap as the HPA's do.
type measure struct {
	utilization bool
	target      int64
	// sum is of the samples that count, requests of their instances, present their number.
	sum, requests, present int64
	// average divides sum by counted: a utilization leaves out samples of unlisted instances.
	counted int64
	// What missing and unready instances would add.
	missingFill, missingRequests, unreadyRequests int64
}

// recommendPerInstance is for resource, container resource and instances metrics: sections 7–10.
func (e *evaluation) recommendPerInstance(m *Metric, reading *Reading, r *MetricResult) error {
	if !reading.answered() {
		return errNoAnswer
	}
	if len(e.obs.Instances) == 0 {
		return errNoInstances
	}
	u := measure{utilization: m.Target.Kind == KindAverageUtilization, target: m.Target.Value}
	if u.utilization {
		u.target = int64(clamp32(u.target))
	}
	err := u.addListed(e, m, reading, r)
	u.addUnlisted(reading.Unlisted)
	switch {
	case u.present == 0:
		return errNoSamples
	case err != nil:
		return err
	}
	if u.requestsNothing() {
		return errNoRequests
	}
	u.report(&r.Current)
	return e.proposePerInstance(&u, r)
}

func (g *Reading) answered() bool {
	for i := range g.PerInstance {
		if g.PerInstance[i].Present {
			return true
		}
	}
	for i := range g.Unlisted {
		if g.Unlisted[i].Present {
			return true
		}
	}
	return false
}

// addListed groups the instances and adds up what each group needs. Its error names the first
// instance without a request.
func (u *measure) addListed(e *evaluation, m *Metric, reading *Reading, r *MetricResult) (err error) {
	grouping := e.groupingOf(m)
	fill := max(100, u.target)
	for i := range e.obs.Instances {
		in := &e.obs.Instances[i]
		var sample *Sample
		if i < len(reading.PerInstance) {
			sample = &reading.PerInstance[i]
		}
		var request int64
		if u.utilization {
			requested, ok := m.Request(in)
			if !ok && err == nil {
				err = fmt.Errorf("instance %q has no request of %q", in.ID, m.Name)
			}
			request = int64(requested)
		}
		switch grouping.of(in, sample) {
		case groupIgnored:
			r.Ignored++
		case groupUnready:
			r.Unready++
			u.unreadyRequests += request
		case groupMissing:
			r.Missing++
			u.missingRequests += request
			u.missingFill += u.fillIn(request, fill)
		case groupReady:
			r.Ready++
			u.sum += int64(sample.Value)
			u.requests += request
		}
	}
	u.present = int64(r.Ready)
	u.counted = u.present
	return err
}

// fillIn is the value a missing instance is given when scaling down: it uses all it may.
func (u *measure) fillIn(request, fill int64) int64 {
	if u.utilization {
		return request * fill / 100
	}
	return u.target
}

// addUnlisted adds samples of instances that are not listed. They count as samples, but a
// utilization cannot use their values, having no requests for them (section 22.7).
func (u *measure) addUnlisted(samples []Sample) {
	for i := range samples {
		if !samples[i].Present {
			continue
		}
		u.present++
		if !u.utilization {
			u.counted++
			u.sum += int64(samples[i].Value)
		}
	}
}

func (u *measure) report(c *CurrentValue) {
	c.HasAverage, c.Average = true, Quantity(u.sum/u.counted)
	if u.utilization {
		c.HasUtilization, c.Utilization = true, u.percent()
	}
}

// requestsNothing tells whether there is no utilization, which would be a division by zero. Sums
// wrap, so the requests of missing and unready instances can cancel out those of ready ones.
func (u *measure) requestsNothing() bool { return u.utilization && u.requests == 0 }

// percent is an integer, cut before any ratio is made of it (section 9).
func (u *measure) percent() int32 { return int32(u.sum * 100 / u.requests) }

func (u *measure) ratio() float64 {
	if u.utilization {
		return float64(u.percent()) / float64(u.target)
	}
	return float64(u.sum/u.present) / float64(u.target)
}

// proposePerInstance is the decision of section 9, steps 1 to 6.
func (e *evaluation) proposePerInstance(u *measure, r *MetricResult) error {
	within, s := e.spec.tolerance.within, e.obs.SpecReplicas
	ratio := u.ratio()
	r.UsageRatio, r.SettledRatio = ratio, ratio
	upUnready := r.Unready > 0 && ratio > 1
	if !upUnready && r.Missing == 0 {
		if within(ratio) {
			r.keep(KeptWithin, s)
			return nil
		}
		r.Proposal = ceil32(ratio * float64(r.Ready))
		return nil
	}
	u.fillGaps(r, ratio, upUnready)
	if u.requestsNothing() {
		return errNoRequests
	}
	settled := u.ratio()
	r.SettledRatio = settled
	proposal := ceil32(settled * float64(u.present))
	switch {
	case within(settled):
		r.keep(KeptWithin, s)
	case ratio < 1 && settled > 1, settled < 1 && ratio > 1:
		r.keep(KeptFlipped, s)
	case settled < 1 && proposal > s, settled > 1 && proposal < s:
		r.keep(KeptContrary, s)
	default:
		r.Proposal = proposal
	}
	return nil
}

// fillGaps assumes the mildest of instances that did not tell: missing ones use all they may when
// scaling down and nothing when scaling up, unready ones nothing when scaling up.
func (u *measure) fillGaps(r *MetricResult, ratio float64, upUnready bool) {
	if ratio < 1 || ratio > 1 {
		u.present += int64(r.Missing)
		u.requests += u.missingRequests
		if ratio < 1 {
			u.sum += u.missingFill
		}
	}
	if upUnready {
		u.present += int64(r.Unready)
		u.requests += u.unreadyRequests
	}
}
