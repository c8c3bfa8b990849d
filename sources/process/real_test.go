package process

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
)

// workVariable makes this program a workload: "spin" is busy on two threads a tenth of the time
// each, "parent" does nothing but run a spinning child.
const workVariable = "HPAD_PROCESS_TEST_WORK"

func work() {
	if os.Getenv(workVariable) == "parent" {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), workVariable+"=spin")
		child.Stdout = os.Stdout
		_ = child.Run()
		return
	}
	os.Stdout.WriteString("\n")
	for range 2 {
		go spin()
	}
	select {}
}

func spin() {
	for range time.Tick(30 * time.Millisecond) {
		for begin := time.Now(); time.Since(begin) < 3*time.Millisecond; {
		}
	}
}

// run starts a workload in its own session and waits until it works.
func run(t *testing.T, kind string) targets.Instance {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workVariable+"="+kind)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return targets.Instance{
		Instance: algorithm.Instance{ID: kind, Started: started, Containers: []algorithm.Container{{Name: "main"}}},
		PID:      cmd.Process.Pid,
	}
}

func needProc(t testing.TB) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
}

// nextSecond waits a little more than a second: what is measured is real.
func nextSecond(t *testing.T) time.Time {
	select {
	case <-time.After(1100 * time.Millisecond):
	case <-t.Context().Done():
	}
	return time.Now()
}

func TestRealProcessesKeepTheContract(t *testing.T) {
	needProc(t)
	sourcetest.ResourceReader(t, false, func(t *testing.T) sourcetest.ResourceHarness {
		ended := exec.Command("true")
		if err := ended.Run(); err != nil {
			t.Fatal(err)
		}
		return sourcetest.ResourceHarness{
			Reader:    open(ownProc),
			Instances: []targets.Instance{run(t, "spin"), run(t, "parent")},
			Ended:     targets.Instance{PID: ended.Process.Pid, Instance: algorithm.Instance{Started: time.Now()}},
			Step:      nextSecond,
		}
	})
}

func TestSampleIsWhatTheKernelCounts(t *testing.T) {
	needProc(t)
	in := run(t, "parent")
	s := open(ownProc)
	nextSecond(t)
	read(t, s, "cpu", in)
	before := kernelCount(t, s, in.PID)
	nextSecond(t)
	after := kernelCount(t, s, in.PID)
	got := read(t, s, "cpu", in)
	want := float64(after-before) / float64(got.Window) * 1000
	if !got.Present || float64(got.Value) < want-60 || float64(got.Value) > want+60 {
		t.Errorf("got %+v, the kernel's count gives %.0f", got, want)
	}
	// Two threads of the child are busy a tenth of the time, if the machine lets them.
	if got.Value < 50 || got.Value > 400 {
		t.Errorf("got %d thousandths of a core, want some 200", got.Value)
	}
}

// kernelCount sums the processes' own clocks.
func kernelCount(t *testing.T, s *Source, pid int) time.Duration {
	t.Helper()
	table, err := readTable(s.proc, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var sum time.Duration
	for _, member := range table.members(pid) {
		used, ok := clock(member)
		if !ok {
			t.Skip("the kernel does not tell the time of other processes")
		}
		sum += used
	}
	return sum
}

func TestEndedProcessIsMissingNotZero(t *testing.T) {
	needProc(t)
	in := run(t, "spin")
	s := open(ownProc)
	nextSecond(t)
	read(t, s, "cpu", in)
	if err := syscall.Kill(in.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for read(t, s, "memory", in).Present {
		if time.Now().After(deadline) {
			t.Fatal("a killed process still has a sample")
		}
	}
	nextSecond(t)
	if got := read(t, s, "cpu", in); got.Present {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkReadOneInstance(b *testing.B) {
	needProc(b)
	s := open(ownProc)
	in := []targets.Instance{{PID: os.Getpid()}}
	at := time.Now()
	for b.Loop() {
		at = at.Add(time.Second)
		if _, err := s.ReadResource(b.Context(), "cpu", "", in, at); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(s.table.processes)), "processes")
}
