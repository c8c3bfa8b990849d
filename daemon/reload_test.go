package daemon

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

func (w *world) reload() error {
	_, err := w.daemon.Reload(context.Background())
	return err
}

func TestReloadKeepsTheHistoryOfTheUnchanged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for _, name := range []string{"kept", "gone", "came"} {
			w.targets.Add(name, 2)
		}
		w.source.Value("q", 80)
		w.write(queueWorkload("kept", "q"), queueWorkload("gone", "q"))
		w.start()
		pass(20 * time.Second)
		kept := w.daemon.find("kept")
		before, bound := kept.snapshot(), kept.binding()
		w.write("# moved\n", queueWorkload("came", "q"), queueWorkload("kept", "q"))
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		if w.daemon.find("kept") != kept || kept.binding() != bound || !reflect.DeepEqual(kept.snapshot(), before) {
			t.Error("the unchanged workload did not keep its history and binding")
		}
		if w.daemon.find("gone") != nil {
			t.Error("the removed workload is still there")
		}
		reads, writes := w.targets.Get("gone").Reads(), len(w.targets.Get("gone").Writes())
		pass(time.Second)
		if w.targets.Get("came").Reads() != 1 {
			t.Error("the new workload was not evaluated within a second")
		}
		pass(time.Minute)
		if w.targets.Get("gone").Reads() != reads || len(w.targets.Get("gone").Writes()) != writes {
			t.Error("the removed workload is still read or written")
		}
	})
}

func TestReloadDoesNotDisturbTheScheduleOfTheUnchanged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("kept", 2)
		w.source.Value("q", 20)
		w.write(queueWorkload("kept", "q"))
		w.start()
		for range 20 {
			pass(7 * time.Second)
			if err := w.reload(); err != nil {
				t.Fatal(err)
			}
		}
		calls := w.source.Calls()
		for i := 2; i < len(calls); i++ {
			if gap := calls[i].At.Sub(calls[i-1].At); gap != 15*time.Second {
				t.Errorf("evaluations %d and %d are %s apart, want 15s", i-1, i, gap)
			}
		}
	})
}

func TestChangedWorkloadKeepsItsState(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		before := w.daemon.find("web").snapshot()
		w.write(strings.Replace(queueWorkload("web", "q"), "max_replicas = 100", "max_replicas = 5", 1))
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(w.daemon.find("web").snapshot(), before) {
			t.Error("the changed workload lost its state")
		}
		pass(time.Minute)
		if n := w.targets.Get("web").Replicas(); n != 5 {
			t.Errorf("the target stands at %d replicas, want the new max 5", n)
		}
	})
}

func TestFailingReloadLeavesThePreviousStateIntact(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		set, bound := w.daemon.set, w.daemon.find("web").binding()
		w.write(queueWorkload("web", "q", "no_such_key = 1"), queueWorkload("b", "q", "also_unknown = 7\n"))
		err := w.reload()
		var problems config.Problems
		if !errors.As(err, &problems) || len(problems) < 2 {
			t.Fatalf("Reload: %v, want all problems", err)
		}
		if w.daemon.set != set || w.daemon.find("web").binding() != bound {
			t.Error("the failing reload changed what is in force")
		}
		if n := w.source.Closed(); n != 0 {
			t.Errorf("the failing reload closed the source in use %d times", n)
		}
		if v := testutil.ToFloat64(w.daemon.metrics.reloadOK); v != 0 {
			t.Errorf("hpad_config_last_reload_successful is %v, want 0", v)
		}
		pass(time.Minute)
		if w.workload("web").LastEvaluation.Before(time.Now().Add(-16 * time.Second)) {
			t.Error("evaluations stopped")
		}
		w.write(queueWorkload("web", "q"))
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		if v := testutil.ToFloat64(w.daemon.metrics.reloadOK); v != 1 {
			t.Errorf("hpad_config_last_reload_successful is %v, want 1", v)
		}
	})
}

func TestReplacedSourceIsClosedOnceNothingUsesIt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.source.Delay(5 * time.Second)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(2 * time.Second)
		body := strings.Replace(head, "[sources.fake]\ndriver = \"fake\"\n", "", 1)
		w.writeAll(body + "[sources.other]\ndriver = \"fake\"\n" +
			strings.Replace(queueWorkload("web", "q"), `source = "fake"`, `source = "other"`, 1))
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		if n := w.source.Closed(); n != 0 {
			t.Errorf("the source was closed while an evaluation used it")
		}
		pass(10 * time.Second)
		if n := w.source.Closed(); n != 1 {
			t.Errorf("the replaced source was closed %d times, want once", n)
		}
	})
}

func TestReloadsThatWaitShareOne(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Second)
		loads := 0
		load := w.daemon.options.Load
		w.daemon.options.Load = func() (*config.Config, config.Problems) {
			loads++
			time.Sleep(time.Second)
			return load()
		}
		go func() { _ = w.reload() }()
		pass(500 * time.Millisecond)
		for range 9 {
			go func() { _ = w.reload() }()
		}
		pass(10 * time.Second)
		if loads != 2 {
			t.Errorf("one reload and nine during it loaded the configuration %d times, want 2", loads)
		}
	})
}

func TestReloadAfterTheEndIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.write()
		w.start()
		pass(time.Second)
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
		if err := w.reload(); !errors.Is(err, errStopped) {
			t.Errorf("Reload after the end: %v, want %v", err, errStopped)
		}
	})
}

func TestTargetsRunByHpadAreHandedOver(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.source.Value("q", 80)
		fake := w.targets.Add("web", 2)
		first, second := &runTarget{Target: fake.Target()}, &runTarget{Target: fake.Target()}
		next := first
		w.moreTargets = []targets.Driver{{Name: "run", Open: openEach(func() targets.Target { return next })}}
		text := strings.Replace(queueWorkload("web", "q"), `via = "fake"`, `via = "run"`, 1)
		w.write(text)
		w.start()
		pass(time.Second)
		if n := first.activated.Load(); n != 1 {
			t.Fatalf("the target was activated %d times, want once", n)
		}
		next = second
		w.write(strings.Replace(text, `name = "web" }`, `name = "web", more = 1 }`, 1))
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		if first.closed.Load() != 1 || second.activated.Load() != 1 || second.resumed.Load() != 4 {
			t.Errorf("closed %d, activated %d, resumed at %d; want 1, 1, 4",
				first.closed.Load(), second.activated.Load(), second.resumed.Load())
		}
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		if second.closed.Load() != 0 || second.activated.Load() != 1 {
			t.Error("a reload that changes nothing touched the target")
		}
	})
}

func TestShutdownFinishesTheCurrentWrite(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		fake.Delay(0, 5*time.Second)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(2 * time.Second)
		began := time.Now()
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
		if n := fake.Replicas(); n != 4 {
			t.Errorf("the target stands at %d replicas, want the 4 that were being written", n)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the shutdown took %s", took)
		}
	})
}

func TestShutdownAbandonsAnObservation(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.moreSources = []sources.Driver{w.hangingSource()}
		w.targets.Add("web", 2)
		w.write("[sources.dead]\ndriver = \"dead\"\n", strings.Replace(queueWorkload("web", "q"), `source = "fake"`, `source = "dead"`, 1))
		w.start()
		pass(2 * time.Second)
		began := time.Now()
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the shutdown took %s", took)
		}
		if log := w.log.take(); strings.Contains(log, "failed") {
			t.Errorf("the end of the daemon is no failure of a workload:\n%s", log)
		}
	})
}

func TestShutdownIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		stuck := make(chan struct{})
		defer close(stuck)
		w.moreTargets = []targets.Driver{oneTargetDriver("deaf", deafTarget{w.targets.Add("web", 2).Target(), stuck})}
		w.source.Value("q", 80)
		w.write(strings.Replace(queueWorkload("web", "q"), `via = "fake"`, `via = "deaf"`, 1))
		w.endsBadly = true
		w.start()
		pass(2 * time.Second)
		began := time.Now()
		err := w.stop()
		if err == nil || !strings.Contains(err.Error(), "cannot stop evaluations") {
			t.Errorf("Run: %v, want an error that names the evaluations", err)
		}
		if took := time.Since(began); took > stopTimeout+time.Second {
			t.Errorf("the shutdown took %s, want at most %s", took, stopTimeout)
		}
	})
}
