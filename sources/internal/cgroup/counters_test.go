package cgroup

import (
	"strings"
	"testing"
	"time"
)

func TestFieldsAreWholeNamesAtTheBeginningOfALine(t *testing.T) {
	const text = "inactive_anon 1\nworkingset_inactive_file 2\ninactive_file 3\ninactive_filex 4\nlast 5"
	for name, want := range map[string]uint64{"inactive_file": 3, "inactive_anon": 1, "last": 5} {
		if got, ok := fieldOf([]byte(text), name); got != want || !ok {
			t.Errorf("%q is %d, %v; want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"inactive", "file", "absent"} {
		if got, ok := fieldOf([]byte(text), name); ok {
			t.Errorf("%q is %d", name, got)
		}
	}
}

func TestWorkingSetIsNeverNegative(t *testing.T) {
	if got, ok := WorkingSet(100, 200); got != 0 || !ok {
		t.Errorf("got %d, %v", got, ok)
	}
	if got, ok := WorkingSet(0, 0); ok {
		t.Errorf("of no usage: %d", got)
	}
}

func FuzzFieldOf(f *testing.F) {
	f.Add([]byte("cache 1\ntotal_inactive_file 123\n"), "total_inactive_file")
	f.Add([]byte("usage_usec 18446744073709551615"), "usage_usec")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if _, ok := fieldOf(text, name); ok && !strings.Contains(string(text), name+" ") {
			t.Errorf("found %q in %q", name, text)
		}
	})
}

func FuzzCPUTimeIsPositive(f *testing.F) {
	f.Add([]byte("123456\n"))
	f.Add([]byte("18446744073709551615\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		count, ok := counterOf(text)
		if !ok {
			return
		}
		for _, unit := range []time.Duration{time.Nanosecond, time.Microsecond} {
			if used, ok := CPUTime(count, unit); ok && used <= 0 {
				t.Errorf("%q is %v", text, used)
			}
		}
	})
}
