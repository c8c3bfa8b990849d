package daemon

import (
	"log/slog"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// BenchmarkMinute commits what 1,000 workloads leave in a minute, and tells the CPU time of it.
func BenchmarkMinute(b *testing.B) {
	s, err := openState(b.TempDir(), slog.New(slog.DiscardHandler), newStateMetrics())
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	state := typical()
	minute := func() {
		for turn := range 30 {
			for i := range 301 {
				s.mu.Lock()
				s.dirty["workload"+strconv.Itoa((turn*134+i)*37%1000)] = state
				s.mu.Unlock()
			}
			s.commit("workload0", state)
		}
	}
	minute()
	began, minutes := cpuTime(b), 0
	for b.Loop() {
		minute()
		minutes++
	}
	b.ReportMetric((cpuTime(b)-began).Seconds()/float64(minutes), "cpu-s/min")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
