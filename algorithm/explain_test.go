package algorithm_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
)

// The behaviour scripts show how decisions read; here are the edges.

func TestAgesAreInWords(t *testing.T) {
	tests := map[time.Duration]string{
		0:                                     "the count this first evaluation found",
		400 * time.Millisecond:                "recommended just now",
		time.Second:                           "recommended 1 second ago",
		130 * time.Second:                     "recommended 2 minutes 10 seconds ago",
		time.Hour:                             "recommended 1 hour ago",
		2*time.Hour + 90*time.Second:          "recommended 2 hours 1 minute 30 seconds ago",
		59*time.Second + 800*time.Millisecond: "recommended 1 minute ago",
	}
	for age, want := range tests {
		d := algorithm.Decision{
			Time: epoch, SpecReplicas: 6, StatusReplicas: 6, Desired: 6, Path: algorithm.PathMetrics, Winner: -1,
			Recommended: true, Recommendation: 2,
			Stabilization: algorithm.Stabilization{Low: 2, High: 6, HighSince: epoch.Add(-age), Result: 6, Held: true},
		}
		spec := valid()
		diff := cmp.Diff([]string{"window: scale down held at 6, " + want, "result: stays at 6"}, d.Explain(&spec))
		if diff != "" {
			t.Errorf("%v: -want +got\n%s", age, diff)
		}
	}
}

func TestPoliciesAreWrittenAsInTheConfiguration(t *testing.T) {
	spec := valid()
	spec.Behavior = &algorithm.Behavior{}
	d := algorithm.Decision{
		SpecReplicas: 3, StatusReplicas: 3, Desired: 4, Rescale: true, Path: algorithm.PathMetrics, Winner: -1,
		Recommended: true, Recommendation: 9, Reason: "queue above target",
		Stabilization: algorithm.Stabilization{Low: 9, High: 9, Result: 9},
		Limit: algorithm.Limit{Limited: true, Reason: algorithm.ReasonScaleUpLimit, Cap: 4, Policies: []algorithm.PolicyResult{
			{Policy: algorithm.Policy{Type: "instances", Value: 1, Period: 30 * time.Minute}, Start: 3, Limit: 4},
			{Policy: algorithm.Policy{Type: "percent", Value: 5, Period: 90 * time.Second}, Start: 2, Limit: 3},
			{Policy: algorithm.Policy{Type: "instances", Value: 2, Period: time.Hour}, Start: 1, Limit: 3},
		}},
	}
	want := []string{
		"policy: at most 1 instance in 30m: up to 4",
		"policy: at most 5 % in 1m30s, counted from 2: up to 3",
		"policy: at most 2 instances in 1h, counted from 1: up to 3",
		"policy: the one that allows the largest change counts",
		"result: 3 → 4, queue above target",
	}
	if diff := cmp.Diff(want, d.Explain(&spec)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A metric's line says what is there, and makes up nothing.
func TestMetricsWithoutANumberSaySo(t *testing.T) {
	spec := valid()
	spec.Metrics = []algorithm.Metric{queue("a"), queue("b")}
	d := algorithm.Decision{
		SpecReplicas: 3, Desired: 3, Path: algorithm.PathMetrics, Winner: 0, Recommended: true, Recommendation: 3,
		Metrics: []algorithm.MetricResult{
			{UsageRatio: math.NaN(), SettledRatio: math.NaN(), Proposal: 3},
			{Err: errors.New("no such queue"), Reason: algorithm.ReasonFailedGetExternalMetric},
		},
	}
	want := []string{
		"target: 3 replicas wanted, 0 there",
		"a: no average at 0 replicas, target value 10: no usage ratio, asks for 3",
		"b: failed (FailedGetExternalMetric): no such queue",
		"metrics: 1 of 2 failed, which blocks only scaling down; a asks for most, 3",
		"result: stays at 3",
	}
	if diff := cmp.Diff(want, d.Explain(&spec)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A decision is explained by the rules it was made by; other rules may be wrong but never break it.
func TestOtherRulesDoNotBreakAnExplanation(t *testing.T) {
	for seed := range uint64(300) {
		h := newHistory(seed, seed%2 == 1)
		spec := h.spec
		obs := h.observe(epoch, &spec, h.replicas)
		d, _ := algorithm.Decide(epoch, &spec, h.state, &obs)
		other := h.chance.spec()
		for _, line := range append(d.Explain(&spec), d.Explain(&other)...) {
			if strings.Contains(line, "%!") || strings.Contains(line, "\n") || !strings.Contains(line, ": ") {
				t.Errorf("%q is no line of an explanation", line)
			}
		}
	}
}
