package main

import (
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/daemon/api"
)

const (
	refusedFirst  = `query "sum(queue)": cannot ask "http://127.0.0.1:9090": dial tcp 127.0.0.1:9090: connect: connection refused`
	refusedSecond = `query "sum(mails)": cannot ask "http://127.0.0.1:9090": dial tcp 127.0.0.1:9090: connect: connection refused`
	failedAll     = `invalid metrics (2 invalid out of 2), first error is: cannot use metric "queue": ` + refusedFirst
)

// blind is a workload whose source has never answered.
func blind() api.Workload {
	w := web()
	w.SpecReplicas, w.StatusReplicas, w.DesiredReplicas = 1, 1, 0
	w.LastSuccess = time.Time{}
	w.Error = failedAll
	w.Metrics = []api.Metric{
		{Type: "external", Name: "queue", Source: "p", TargetKind: "value", TargetValue: 1, Kind: "unavailable", Error: `cannot use metric "queue": ` + refusedFirst},
		{Type: "external", Name: "mails", Source: "p", TargetKind: "value", TargetValue: 1, Kind: "unavailable", Error: `cannot use metric "mails": ` + refusedSecond},
	}
	w.Conditions = []api.Condition{
		{Type: "ScalingActive", Status: "False", Reason: "FailedGetExternalMetric", Message: "the HPA was unable to compute the replica count: " + failedAll},
		{Type: "EvaluationFailed", Status: "True", Reason: "FailedGetExternalMetric", Message: failedAll},
	}
	w.Explanation = []string{
		"queue: failed (FailedGetExternalMetric): " + refusedFirst,
		"mails: failed (FailedGetExternalMetric): " + refusedSecond,
		"metrics: all 2 failed, nothing is changed",
	}
	return w
}

func TestALongErrorStandsInFullOnce(t *testing.T) {
	w := blind()
	got := describe(&w, noon)
	for _, want := range []string{
		"Error:             " + failedAll + "\n",
		"/ 1   unavailable: connection refused\n",
		"  queue: failed (FailedGetExternalMetric): connection refused\n",
		"  mails: failed (FailedGetExternalMetric): connection refused\n",
		"FailedGetExternalMetric   unavailable, see Error\n",
		"FailedGetExternalMetric   the HPA was unable to compute the replica count: " + failedAll + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	// Once as the error, once in the condition whose words are the HPA's.
	if n := strings.Count(got, refusedFirst); n != 2 {
		t.Errorf("the error stands there %d times, want 2:\n%s", n, got)
	}
}

func TestWhatWasNeverDecidedIsUnknown(t *testing.T) {
	w := blind()
	if got := describe(&w, noon); !strings.Contains(got, "1 spec / 1 status / <unknown> desired\n") {
		t.Errorf("the replicas are not unknown:\n%s", got)
	}
}

func TestATargetThatCannotBeReadIsSaidOnce(t *testing.T) {
	w := web()
	w.Error = `cannot ask "unix:///run/docker.sock" for service "shop_web": dial unix /run/docker.sock: connect: no such file or directory`
	w.Explanation = []string{"target: cannot be read: " + w.Error}
	if got := describe(&w, noon); strings.Count(got, w.Error) != 1 || !strings.Contains(got, "target: cannot be read: see Error\n") {
		t.Errorf("the error does not stand there once:\n%s", got)
	}
}

func TestACauseIsShort(t *testing.T) {
	long := strings.Repeat("a word ", 40)
	for text, want := range map[string]string{
		"the answer is empty":                           "the answer is empty",
		`cannot use metric "cpu": none has a sample`:    "none has a sample",
		`cannot use metric "cpu": ` + refusedFirst:      "connection refused",
		"cannot ask: " + long:                           long[:longestCause-1] + "…",
		`query "a: b": the answer has 2 series, want 1`: `query "a: b": the answer has 2 series, want 1`,
	} {
		if got := cause(text); got != want {
			t.Errorf("the cause of %q is %q, want %q", text, got, want)
		}
	}
}

func TestTitlesAreWrittenAnewWhenColumnsMove(t *testing.T) {
	var out strings.Builder
	show := tablePrinter(&out, false)
	w := web()
	w.Metrics = w.Metrics[:1]
	narrow, later, wide := w, w, w
	later.Since = later.Since.AddDate(-1, 0, 0)
	wide.Metrics = web().Metrics
	for _, w := range []api.Workload{narrow, later, wide, narrow} {
		if err := show([]api.Workload{w}, noon); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var titles []int
	for i, line := range lines {
		if strings.HasPrefix(line, "NAME") {
			titles = append(titles, i)
		}
	}
	if len(lines) != 6 || len(titles) != 2 || titles[1] != 3 {
		t.Errorf("titles in the lines %v of %d:\n%s", titles, len(lines), out.String())
	}
	if a, b := strings.Index(lines[3], "MIN"), strings.LastIndex(lines[5], "2     20"); a != b {
		t.Errorf("the last line does not stand below its titles:\n%s", out.String())
	}
}
