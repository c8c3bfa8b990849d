package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/targets"
)

func TestExplanationFollowsTheDecision(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2).FailSet(targets.Errorf(targets.Denied, "not allowed"))
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		text := strings.Join(w.workload("web").Explanation, "\n")
		for _, part := range []string{"usage ratio 4.00", "2 → 4", "target: cannot rescale to 4: not allowed"} {
			if !strings.Contains(text, part) {
				t.Errorf("the explanation does not say %q:\n%s", part, text)
			}
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
