package daemon

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/targets"
)

func TestConflictIsReadAgainAndDecidedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		meddler := &meddledTarget{fake: fake, conflicts: 1, to: 3}
		w.moreTargets = []targets.Driver{meddler.driver(w)}
		w.source.Value("q", 80)
		w.write("[targets.meddled]\ndriver = \"meddled\"\n",
			strings.Replace(queueWorkload("web", "q"), `via = "fake"`, `via = "meddled"`, 1))
		w.start()
		pass(2 * time.Second)
		writes := fake.Writes()
		if len(writes) != 1 || writes[0].From != 3 || writes[0].To != 6 {
			t.Fatalf("writes are %v, want one from 3 (what somebody else set) to 6", writes)
		}
		memory := w.daemon.find("web").snapshot().Memory
		if n := len(memory.Recommendations); n != 2 || memory.Recommendations[0].Replicas != 3 {
			t.Errorf("recommendations are %v, want 3 (as begun with) and 8, once", memory.Recommendations)
		}
	})
}

func TestConflictIsGivenUpAfterThreeTries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		meddler := &meddledTarget{fake: fake, conflicts: 100, to: 2}
		w.moreTargets = []targets.Driver{meddler.driver(w)}
		w.source.Value("q", 80)
		w.write("[targets.meddled]\ndriver = \"meddled\"\n",
			strings.Replace(queueWorkload("web", "q"), `via = "fake"`, `via = "meddled"`, 1))
		w.start()
		pass(2 * time.Second)
		if meddler.tries != 3 {
			t.Errorf("the change was tried %d times, want 3", meddler.tries)
		}
		if c := w.condition("web", "EvaluationFailed"); c.Status != "True" || c.Reason != "TargetConflict" {
			t.Errorf("EvaluationFailed is %s/%s, want True/TargetConflict", c.Status, c.Reason)
		}
		if c := w.condition("web", "AbleToScale"); c.Reason != "FailedUpdateScale" {
			t.Errorf("AbleToScale has reason %q, want FailedUpdateScale", c.Reason)
		}
	})
}

func TestLostAnswerIsReadBack(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		fake.LoseAnswers(true)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		if c := w.condition("web", "AbleToScale"); c.Reason != "SucceededRescale" {
			t.Errorf("AbleToScale has reason %q, want SucceededRescale", c.Reason)
		}
		if w.workload("web").LastScale.IsZero() {
			t.Error("the change that was read back is not recorded")
		}
	})
}

func TestBlockedTargetHoldsWithoutFailing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		fake.Block(targets.Block{Up: true, Reason: "UpdateInProgress", Message: "a rollout is under way"})
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		if c := w.condition("web", "TargetBlocked"); c.Status != "True" || c.Reason != "UpdateInProgress" {
			t.Errorf("TargetBlocked is %s/%s, want True/UpdateInProgress", c.Status, c.Reason)
		}
		if c := w.condition("web", "EvaluationFailed"); c.Status != "False" {
			t.Errorf("EvaluationFailed is %s, want False", c.Status)
		}
		if writes := fake.Writes(); writes != nil {
			t.Errorf("the blocked target was written: %v", writes)
		}
		fake.Block()
		pass(30 * time.Second)
		if c := w.condition("web", "TargetBlocked"); c.Status != "False" || len(fake.Writes()) == 0 {
			t.Errorf("after the block TargetBlocked is %s and writes are %v", c.Status, fake.Writes())
		}
	})
}

func TestRefusedWriteNamesItsReason(t *testing.T) {
	for class, reason := range map[targets.Class]string{
		targets.Denied: "TargetDenied", targets.Capacity: "TargetCapacity", targets.OutOfRange: "TargetOutOfRange",
	} {
		t.Run(reason, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.targets.Add("web", 2).FailSet(targets.Errorf(class, "no"))
				w.source.Value("q", 80)
				w.write(queueWorkload("web", "q"))
				w.start()
				pass(time.Second)
				if c := w.condition("web", "EvaluationFailed"); c.Reason != reason {
					t.Errorf("EvaluationFailed has reason %q, want %q", c.Reason, reason)
				}
				if c := w.condition("web", "AbleToScale"); c.Reason != "FailedUpdateScale" {
					t.Errorf("AbleToScale has reason %q, want FailedUpdateScale", c.Reason)
				}
			})
		})
	}
}

func TestThrottledTargetIsLeftAloneForAsLongAsItAsks(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		fake.FailStatus(&targets.Error{Class: targets.Throttled, RetryAfter: 2 * time.Minute, Err: errors.New("slow down")})
		w.source.Value("q", 20)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(110 * time.Second)
		if reads := fake.Reads(); reads != 1 {
			t.Errorf("the target was asked %d times within its two minutes, want 1", reads)
		}
		pass(30 * time.Second)
		if reads := fake.Reads(); reads != 2 {
			t.Errorf("the target was asked %d times, want 2 once its two minutes are over", reads)
		}
	})
}
