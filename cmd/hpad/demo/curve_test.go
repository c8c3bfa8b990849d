package demo

import (
	"math"
	"testing"
	"time"
)

func TestLoadRisesAndFallsWithoutJumps(t *testing.T) {
	lowest, highest := math.Inf(1), math.Inf(-1)
	const step = 100 * time.Millisecond
	for at := time.Duration(0); at < 2*turn; at += step {
		load := offered(at)
		lowest, highest = min(lowest, load), max(highest, load)
		if jump := math.Abs(offered(at+step) - load); jump > 0.7 {
			t.Errorf("the load jumps by %.2f at %v", jump, at)
		}
	}
	if lowest != quietLoad || highest != peakLoad {
		t.Errorf("the load is between %v and %v, want %v and %v", lowest, highest, quietLoad, peakLoad)
	}
}

func TestOneTurnEndsWithinTwoMinutes(t *testing.T) {
	if turn > 2*time.Minute {
		t.Errorf("a turn takes %v", turn)
	}
	if offered(0) != quietLoad || offered(turn-time.Millisecond) != quietLoad {
		t.Error("a turn does not begin and end quietly")
	}
}
