package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

func TestEveryWorkloadIsEvaluatedWithinASecondAndThenOncePerPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const n = 1000
		var text []string
		for i := range n {
			name := fmt.Sprintf("w%d", i)
			w.targets.Add(name, 2)
			w.source.Value(name, 20)
			text = append(text, queueWorkload(name, name))
		}
		w.write(text...)
		w.start()
		began := time.Now()
		pass(time.Second)
		for i := range n {
			if reads := w.targets.Get(fmt.Sprintf("w%d", i)).Reads(); reads != 1 {
				t.Fatalf("workload %d was read %d times in the first second, want 1", i, reads)
			}
		}
		pass(44 * time.Second)
		perSecond := map[int]int{}
		last := map[string]time.Duration{}
		for _, call := range w.source.Calls() {
			since := call.At.Sub(began)
			perSecond[int(since/time.Second)]++
			if gap := since - last[call.Query.Text]; since > 24*time.Second && gap != 15*time.Second {
				t.Fatalf("%s was evaluated %s after the time before, want 15s", call.Query.Text, gap)
			}
			last[call.Query.Text] = since
		}
		for second, queries := range perSecond {
			if second >= 24 && queries > n/5 {
				t.Errorf("%d of %d queries fell into second %d, want at most a fifth", queries, n, second)
			}
		}
	})
}

func TestSecondEvaluationKeepsItsDistance(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var text []string
		for i := range 50 {
			name := fmt.Sprintf("w%d", i)
			w.targets.Add(name, 2)
			w.source.Value(name, 20)
			text = append(text, queueWorkload(name, name))
		}
		w.write(text...)
		w.start()
		pass(40 * time.Second)
		times := map[string][]time.Time{}
		for _, call := range w.source.Calls() {
			times[call.Query.Text] = append(times[call.Query.Text], call.At)
		}
		for name, at := range times {
			gap := at[1].Sub(at[0])
			if gap < 7500*time.Millisecond || gap > 22500*time.Millisecond {
				t.Errorf("%s: second evaluation %s after the first, want half a period to one and a half", name, gap)
			}
		}
	})
}

func TestSharedQueryIsAskedOncePerPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var text []string
		for i := range 200 {
			name := fmt.Sprintf("shared%d", i)
			w.targets.Add(name, 2).Delay(time.Duration(i)*10*time.Millisecond, 0)
			text = append(text, queueWorkload(name, "everybody"))
			// Others ask between the members of the group.
			other := fmt.Sprintf("other%d", i)
			w.targets.Add(other, 2)
			w.source.Value(other, 20)
			text = append(text, queueWorkload(other, other))
		}
		w.source.Value("everybody", 20)
		w.write(text...)
		w.start()
		pass(25 * time.Second)
		before := w.countCalls("everybody")
		pass(4 * 15 * time.Second)
		if asked := w.countCalls("everybody") - before; asked != 4 {
			t.Errorf("the shared query was asked %d times in 4 periods, want 4", asked)
		}
	})
}

func (w *world) countCalls(query string) (n int) {
	for _, call := range w.source.Calls() {
		if call.Query.Text == query {
			n++
		}
	}
	return n
}

func TestHangingTargetDelaysNobodyElse(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for _, name := range []string{"stuck", "fine"} {
			w.targets.Add(name, 2)
			w.source.Value(name, 20)
		}
		release := w.targets.Get("stuck").Hang()
		t.Cleanup(release)
		w.write(queueWorkload("stuck", "stuck"), queueWorkload("fine", "fine"))
		w.start()
		pass(time.Second)
		if reads := w.targets.Get("fine").Reads(); reads != 1 {
			t.Errorf("the other workload was read %d times in the first second, want 1", reads)
		}
		pass(60 * time.Second)
		if reads := w.targets.Get("fine").Reads(); reads < 4 {
			t.Errorf("the other workload was read %d times in 61s, want 4 at least", reads)
		}
		if c := w.condition("stuck", "AbleToScale"); c.Reason != "FailedGetScale" {
			t.Errorf("the hanging workload has AbleToScale reason %q, want FailedGetScale", c.Reason)
		}
	})
}

func TestHangingSourceDelaysNobodyElse(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.moreSources = []sources.Driver{w.hangingSource()}
		for _, name := range []string{"stuck", "fine"} {
			w.targets.Add(name, 2)
			w.source.Value(name, 20)
		}
		w.write("[sources.dead]\ndriver = \"dead\"\n",
			strings.Replace(queueWorkload("stuck", "stuck"), `source = "fake"`, `source = "dead"`, 1),
			queueWorkload("fine", "fine"))
		w.start()
		pass(61 * time.Second)
		if reads := w.targets.Get("fine").Reads(); reads < 4 {
			t.Errorf("the other workload was read %d times in 61s, want 4 at least", reads)
		}
		if c := w.condition("stuck", "ScalingActive"); c.Reason != "FailedGetExternalMetric" {
			t.Errorf("the workload of the dead source has ScalingActive reason %q, want FailedGetExternalMetric", c.Reason)
		}
	})
}

func TestOverrunSkipsTurnsInsteadOfEvaluatingTwiceAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.source.Value("q", 100)
		fake := w.targets.Add("slow", 2)
		fake.Delay(9*time.Second, 9*time.Second)
		w.write("", queueWorkload("slow", "q"))
		w.start()
		pass(120 * time.Second)
		writes := fake.Writes()
		if len(writes) == 0 {
			t.Fatal("nothing was written")
		}
		if n := testutil.ToFloat64(w.daemon.metrics.skipped); n == 0 {
			t.Error("no turn was counted as skipped")
		}
		for i := 1; i < len(writes); i++ {
			if gap := writes[i].Time.Sub(writes[i-1].Time); gap < 15*time.Second {
				t.Errorf("two writes are %s apart, want a period at least", gap)
			}
		}
	})
}

func TestOneChangePerEvaluation(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		writes := fake.Writes()
		if len(writes) != 1 || writes[0].From != 2 || writes[0].To != 4 {
			t.Fatalf("writes after the first evaluation are %v, want one from 2 to 4", writes)
		}
		if log := w.log.take(); !strings.Contains(log, "msg=scaled workload=web from=2 to=4") || !strings.Contains(log, "metric=queue") {
			t.Errorf("the change is not in the log:\n%s", log)
		}
	})
}

func TestNothingIsLoggedWhenNothingChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		w.log.take()
		pass(10 * time.Minute)
		if log := w.log.take(); log != "" {
			t.Errorf("ten quiet minutes left in the log:\n%s", log)
		}
	})
}

func TestTroubleIsLoggedOnceAndItsEndToo(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Fail("q", sources.Errorf(sources.Unavailable, "no answer"))
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(5 * time.Minute)
		if log := w.log.take(); strings.Count(log, "evaluation failed") != 1 {
			t.Errorf("five minutes of one trouble must be one line, are:\n%s", log)
		}
		w.source.Value("q", 20)
		pass(time.Minute)
		if log := w.log.take(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "works again") {
			t.Errorf("the end of the trouble must be one line, is:\n%s", log)
		}
	})
}

func TestDryRunDecidesAndWritesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q", "dry_run = true"))
		w.start()
		pass(time.Minute)
		shown := w.workload("web")
		if len(fake.Writes()) != 0 || shown.DesiredReplicas != 4 || !shown.LastScale.IsZero() {
			t.Errorf("writes %v, desired %d, last scale %v; want none, 4, never", fake.Writes(), shown.DesiredReplicas, shown.LastScale)
		}
		if c := w.condition("web", "DryRun"); c.Status != "True" {
			t.Errorf("DryRun is %q, want True", c.Status)
		}
	})
}

func TestTargetSetToZeroByHandIsLeftAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 0)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Minute)
		if !w.workload("web").Disabled || len(fake.Writes()) != 0 {
			t.Errorf("disabled %t, writes %v; want true and none", w.workload("web").Disabled, fake.Writes())
		}
		if c := w.condition("web", "ScalingActive"); c.Reason != "ScalingDisabled" {
			t.Errorf("ScalingActive has reason %q, want ScalingDisabled", c.Reason)
		}
		if asked := w.countCalls("q"); asked != 0 {
			t.Errorf("the metric was asked for %d times, want never", asked)
		}
	})
}

func TestPanicIsContained(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("fine", 2)
		w.source.Value("q", 20)
		w.moreTargets = []targets.Driver{panickingDriver()}
		w.write("[targets.panicking]\ndriver = \"panicking\"\n",
			strings.Replace(queueWorkload("bad", "q"), `via = "fake"`, `via = "panicking"`, 1), queueWorkload("fine", "q"))
		w.start()
		pass(5 * time.Minute)
		if c := w.condition("bad", "EvaluationFailed"); c.Status != "True" || !strings.Contains(c.Message, "driver bug") {
			t.Errorf("EvaluationFailed is %s %q, want True and the panic", c.Status, c.Message)
		}
		if !w.workload("fine").LastSuccess.After(time.Now().Add(-20 * time.Second)) {
			t.Error("the other workload is no longer evaluated")
		}
		log := w.log.take()
		if strings.Count(log, "driver bug") != 1 || !strings.Contains(log, "stack=") {
			t.Errorf("a panic must be logged once, with its stack:\n%s", log)
		}
	})
}
