package daemon

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestExplanationFollowsTheDecision(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		want := []string{
			"the target: 2 replicas asked for, 2 there",
			`metric "queue": usage ratio 4.000: 8 replicas`,
			"recommendation: 8 replicas",
			"limited by ScaleUpLimit to 4 replicas",
			"from 2 to 4 replicas: done",
		}
		if diff := cmp.Diff(want, w.workload("web").Explanation); diff != "" {
			t.Errorf("explanation (-want +got):\n%s", diff)
		}
	})
}

func TestEventsAreCountedAndBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	events := withEvent(nil, eventNormal, "A", "first", now)
	published := events
	events = withEvent(events, eventNormal, "B", "second", now.Add(time.Second))
	events = withEvent(events, eventNormal, "A", "first", now.Add(2*time.Second))
	if len(events) != 2 || events[1].Count != 2 || !events[1].First.Equal(now) || events[0].Reason != "B" {
		t.Errorf("events are %+v, want B and then A counted twice", events)
	}
	if published[0].Count != 1 {
		t.Error("a published event changed")
	}
	for i := range 100 {
		events = withEvent(events, eventWarning, "C", string(rune('a'+i)), now)
	}
	if len(events) != maxEvents {
		t.Errorf("%d events are kept, want %d", len(events), maxEvents)
	}
}
