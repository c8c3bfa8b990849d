package process

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

func TestNothingRunsBeforeActivate(t *testing.T) {
	w := bind(t, map[string]any{"replicas": int64(2)}, "serve")
	w.Resume(3)
	if status := w.status(); status.SpecReplicas != 3 || len(status.Instances) != 0 {
		t.Errorf("before Activate, Status is %+v", status)
	}
	if err := w.Activate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.running("1", "2", "3")
	w.Resume(1)
	if err := w.Activate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status := w.running("1", "2", "3"); status.SpecReplicas != 3 {
		t.Errorf("Resume after Activate changed the wanted count to %d", status.SpecReplicas)
	}
}

func TestEndedInstanceIsRestartedAfterAPauseThatDoubles(t *testing.T) {
	w := activate(t, nil, "fail")
	for _, pause := range []string{"20ms", "40ms", "80ms"} {
		w.logged(`because="exited with status 3" in=` + pause)
	}
	if status := w.until("waiting", func(s *targets.Status) bool { return len(s.Warnings) == 1 }); status.StatusReplicas != 1 {
		t.Errorf("an instance that waits is not in the %d status replicas", status.StatusReplicas)
	}
}

func TestWaitingInstanceIsPendingAndTellsWhy(t *testing.T) {
	w := activate(t, map[string]any{"restart_backoff": "8s"}, "fail")
	status := w.until("waiting", func(s *targets.Status) bool { return len(s.Warnings) > 0 })
	if diff := cmp.Diff([]string{"instance 1 exited with status 3, restarts in 8s"}, status.Warnings); diff != "" {
		t.Error(diff)
	}
	i := status.Instances[0]
	if i.Phase != algorithm.PhasePending || i.Ready != algorithm.NotReady || i.PID != 0 || !i.Started.IsZero() {
		t.Errorf("the instance is %+v", i)
	}
	w.set(0)
	w.running()
}

func TestWarningsOfManyInstancesAreShort(t *testing.T) {
	w := activate(t, map[string]any{"replicas": int64(8), "restart_backoff": "1m"}, "fail")
	status := w.until("waiting", func(s *targets.Status) bool {
		return len(s.Warnings) == maxFaults+1 && strings.HasPrefix(s.Warnings[maxFaults], "3 ")
	})
	if want := "3 more instances wait to be restarted"; status.Warnings[maxFaults] != want {
		t.Errorf("the last warning is %q, want %q", status.Warnings[maxFaults], want)
	}
}

func TestPausesBeginAnewAfterARunThatWasHealthy(t *testing.T) {
	b := backoff{first: time.Second, most: 5 * time.Second, healthyAfter: 10 * time.Second}
	var got []time.Duration
	for _, ran := range []time.Duration{0, 0, 9 * time.Second, 0, 0, 10 * time.Second, 0} {
		got = append(got, b.next(ran)/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 5, 5, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
}

func TestKilledInstanceComesBackWithItsNumber(t *testing.T) {
	w := activate(t, map[string]any{"replicas": int64(2)}, "serve")
	before := w.running("1", "2")
	if err := syscall.Kill(before.Instances[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.logged("was ended by signal 9 (killed)")
	after := w.until("again", func(s *targets.Status) bool {
		pid := s.Instances[0].PID
		return pid != 0 && pid != before.Instances[0].PID
	})
	if after.Instances[1].PID != before.Instances[1].PID || len(after.Warnings) > 0 {
		t.Errorf("after the restart, Status is %+v", after)
	}
	if !after.Instances[0].Started.After(before.Instances[0].Started) {
		t.Error("the restarted instance began when the first one did")
	}
}

func TestProgramThatVanishedIsAWarningAndStartsOnceItIsBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "worker")
	if err := os.Symlink(program(t).absolute, path); err != nil {
		t.Fatal(err)
	}
	w := bind(t, map[string]any{"command": []any{path, "serve"}})
	if err := os.Rename(path, path+"x"); err != nil {
		t.Fatal(err)
	}
	if err := w.Activate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.until("warned of", func(s *targets.Status) bool {
		return len(s.Warnings) == 1 && strings.HasPrefix(s.Warnings[0], "instance 1 cannot start: ") &&
			strings.Contains(s.Warnings[0], "no such file")
	})
	if err := os.Rename(path+"x", path); err != nil {
		t.Fatal(err)
	}
	w.running("1")
}

func TestLowestFreeNumbersAreUsedAndHighestRemoved(t *testing.T) {
	w := activate(t, map[string]any{"replicas": int64(4), "port": int64(20000)}, "serve")
	w.running("1", "2", "3", "4")
	w.set(2)
	w.running("1", "2")
	w.set(3)
	status := w.running("1", "2", "3")
	hostname, _ := os.Hostname()
	i := status.Instances[2]
	want := []string{"3", "127.0.0.1:20002", "localhost:20002", hostname + ":20002", strconv.Itoa(i.PID)}
	if diff := cmp.Diff(want, i.Identifiers); diff != "" {
		t.Error(diff)
	}
}

func TestNumberOfAStoppingInstanceIsNotUsed(t *testing.T) {
	w := activate(t, map[string]any{"replicas": int64(2), "stop_grace": "1m"}, "deaf")
	w.running("1", "2")
	eventually(t, func() error {
		if n := strings.Count(w.log.text(), "line=ready"); n != 2 {
			return fmt.Errorf("%d instances are ready", n)
		}
		return nil
	})
	w.set(1)
	w.set(2)
	status := w.until("three", func(s *targets.Status) bool { return len(s.Instances) == 3 && s.Instances[2].PID != 0 })
	if !status.Instances[1].Deleting || status.Instances[2].ID != "3" || status.StatusReplicas != 2 {
		t.Errorf("Status is %+v", status)
	}
	for _, i := range status.Instances {
		_ = syscall.Kill(i.PID, syscall.SIGKILL)
	}
	w.set(0)
}

func TestMoreReplicasThanPortsAreOutOfRange(t *testing.T) {
	w := activate(t, map[string]any{"replicas": int64(0), "port": int64(maxPort - 1)}, "serve")
	err := w.SetReplicas(t.Context(), w.status(), 3)
	if targets.ClassOf(err, true) != targets.OutOfRange {
		t.Errorf("SetReplicas says %v", err)
	}
	w.set(2)
	w.running("1", "2")
}

func TestOneOfManyConcurrentChangesWins(t *testing.T) {
	w := activate(t, map[string]any{"replicas": int64(0)}, "serve")
	from := w.status()
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for n := range errs {
		wg.Go(func() { errs[n] = w.SetReplicas(context.Background(), from, int32(n%2+1)) })
	}
	wg.Wait()
	wanted := w.status().SpecReplicas
	for n, err := range errs {
		same := int32(n%2+1) == wanted
		if same && err != nil || !same && targets.ClassOf(err, true) != targets.Conflict {
			t.Errorf("SetReplicas(%d) says %v, the wanted count is %d", n%2+1, err, wanted)
		}
	}
	w.running([]string{"1", "2"}[:wanted]...)
}

func TestInstanceIsReadyFromTheFirstGoodAnswerUntilThreeBadOnes(t *testing.T) {
	status := filepath.Join(t.TempDir(), "status")
	answer := func(code string) {
		if err := os.WriteFile(status, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answer("503")
	w := activate(t, map[string]any{"port": int64(freePort(t)), "ready_http": "/healthz"}, "http", status)
	began := w.running("1").Instances[0]
	if began.Ready != algorithm.NotReady {
		t.Error("the instance is ready before it has answered")
	}
	is := func(readiness algorithm.Readiness) func(*targets.Status) bool {
		return func(s *targets.Status) bool { return s.Instances[0].Ready == readiness }
	}
	answer("204")
	good := w.until("ready", is(algorithm.Ready)).Instances[0]
	if !good.ReadyTransition.After(began.ReadyTransition) {
		t.Errorf("became ready at %v, not after %v", good.ReadyTransition, began.ReadyTransition)
	}
	answer("500")
	turned := time.Now()
	w.until("unready", is(algorithm.NotReady))
	if took := time.Since(turned); took < 3*pollEvery/2 {
		t.Errorf("unready after %v, before three bad answers", took)
	}
}

// freePort is a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
