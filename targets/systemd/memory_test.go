package systemd

import (
	"testing"
	"time"
)

func TestPropertiesAreRememberedUntilTheStateChangesOrAMinuteIsOver(t *testing.T) {
	var m memories
	begin := time.Now()
	m.put("a", memory{changed: 1, read: begin, properties: properties{pid: 7}})
	for _, test := range []struct {
		changed uint64
		after   time.Duration
		want    bool
	}{{1, 0, true}, {2, 0, false}, {1, readAgain - 1, true}, {1, readAgain, false}} {
		m.forget(begin.Add(test.after))
		if got, ok := m.get("a", test.changed); ok != test.want || ok && got.pid != 7 {
			t.Errorf("after %v, changed at %d: %+v, %v", test.after, test.changed, got, ok)
		}
	}
}
