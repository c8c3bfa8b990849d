package process

import (
	"bufio"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hpad/hpad/targets"
)

func TestCloseLeavesNothingRunning(t *testing.T) {
	w := activate(t, map[string]any{"replicas": int64(3)}, "serve")
	before := w.running("1", "2", "3")
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range before.Instances {
		gone(t, before.Instances[i].PID)
	}
	if _, err := w.Status(t.Context()); targets.ClassOf(err, false) != targets.Unavailable || err == nil {
		t.Errorf("Status after Close says %v", err)
	}
	if err := w.Activate(t.Context()); err == nil {
		t.Error("a closed target can be activated")
	}
}

func TestStopSignalIsTheConfiguredOne(t *testing.T) {
	w := activate(t, map[string]any{"stop_signal": "SIGUSR1"}, "serve")
	w.logged("line=ready")
	w.set(0)
	w.running()
	w.logged("got user defined signal 1")
}

func TestDeafInstanceIsKilledAfterTheGrace(t *testing.T) {
	w := activate(t, map[string]any{"stop_grace": "100ms"}, "deaf")
	w.logged("line=ready")
	pid := w.running("1").Instances[0].PID
	began := time.Now()
	w.set(0)
	if status := w.status(); len(status.Instances) != 1 || !status.Instances[0].Deleting || status.StatusReplicas != 0 {
		t.Errorf("while it stops, Status is %+v", status)
	}
	w.running()
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("killed after %v, before the grace was over", took)
	}
	gone(t, pid)
	w.logged("was ended by signal 9")
}

func TestWholeGroupIsKilled(t *testing.T) {
	w := activate(t, map[string]any{"stop_grace": "100ms"}, "family")
	child := childOf(w)
	w.set(0)
	w.running()
	gone(t, child)
}

func TestWhatAnInstanceLeavesBehindIsKilled(t *testing.T) {
	w := activate(t, map[string]any{"restart_backoff": "1h", "restart_backoff_max": "1h"}, "parent")
	gone(t, childOf(w))
	w.logged("exited with status 0")
}

// childOf waits until an instance tells the number of its child.
func childOf(w *world) int {
	line := w.logged(`line="child `)
	pid, err := strconv.Atoi(regexp.MustCompile(`child (\d+)`).FindStringSubmatch(line)[1])
	if err != nil {
		w.t.Fatal(err)
	}
	return pid
}

func TestInstancesDieWithAKilledHpad(t *testing.T) {
	cmd := exec.Command(program(t).absolute, "daemon")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	ready := 0
	for lines := bufio.NewScanner(stdout); ready < 2 && lines.Scan(); {
		if strings.Contains(lines.Text(), "line=ready") {
			ready++
		}
		if found := regexp.MustCompile(`instance started.* pid=(\d+)`).FindStringSubmatch(lines.Text()); found != nil {
			pid, _ := strconv.Atoi(found[1])
			pids = append(pids, pid)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	if len(pids) != 2 || ready != 2 {
		t.Fatalf("%d instances were ready, with the pids %v", ready, pids)
	}
	for _, pid := range pids {
		gone(t, pid)
	}
}

func TestProcessesOutliveTheThreadsOfHpad(t *testing.T) {
	s := newStarter()
	defer s.close()
	set := &settings{program: program(t).absolute, bindingOptions: bindingOptions{Command: []string{"", "deaf"}}}
	for range 5 {
		cmd := set.command(1)
		if err := s.start(cmd); err != nil {
			t.Fatal(err)
		}
		endThreads(50)
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); fmt.Sprint(err) != "signal: interrupt" {
			t.Errorf("the process ended by %v, want the signal it was sent", err)
		}
	}
}

// endThreads ends as many threads: Go ends the thread of a goroutine that returns with it locked.
func endThreads(n int) {
	var locked, ended sync.WaitGroup
	release := make(chan struct{})
	for range n {
		locked.Add(1)
		ended.Go(func() {
			runtime.LockOSThread()
			locked.Done()
			<-release
		})
	}
	locked.Wait()
	close(release)
	ended.Wait()
}
