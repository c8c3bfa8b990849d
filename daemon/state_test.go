package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	bolt "go.etcd.io/bbolt"

	"github.com/hpad/hpad/algorithm"
)

func (w *world) stateDir() string  { return filepath.Join(filepath.Dir(w.path), "state") }
func (w *world) stateFile() string { return filepath.Join(w.stateDir(), stateFile) }

// writeDurable makes a configuration with a state_dir.
func (w *world) writeDurable(parts ...string) {
	w.t.Helper()
	w.writeAll(strings.Replace(head, `socket = ""`, "socket = \"\"\nstate_dir = \"state\"", 1) + strings.Join(parts, "\n"))
}

func (w *world) halt() {
	w.t.Helper()
	if err := w.stop(); err != nil {
		w.t.Fatalf("Run: %v", err)
	}
}

// crash ends the daemon with the state that a kill at this moment would leave.
func (w *world) crash() {
	w.t.Helper()
	left, err := os.ReadFile(w.stateFile())
	if err != nil {
		w.t.Fatal(err)
	}
	w.halt()
	if err := os.WriteFile(w.stateFile(), left, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// openKept opens the state of the daemon that is stopped.
func (w *world) openKept() *store {
	w.t.Helper()
	s, err := openState(w.stateDir(), w.daemon.log, newStateMetrics())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.close() })
	return s
}

// shrink runs a workload that grew to 8, from a minute on wants 2, and tells when it got less than
// 8, counted from the start.
func shrink(t *testing.T, disturb func(w *world, second int)) (after time.Duration) {
	inBubble(t, func(t *testing.T, w *world) {
		began := time.Now()
		fake := w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.writeDurable(queueWorkload("web", "q"))
		w.start()
		for second := range 800 {
			if second == 60 {
				w.source.Value("q", 20)
			}
			disturb(w, second)
			pass(time.Second)
			if writes := fake.Writes(); len(writes) > 0 && writes[len(writes)-1].To < 8 && fake.Replicas() == 2 {
				after = writes[len(writes)-1].Time.Sub(began)
				return
			}
		}
		t.Error("the workload never got smaller")
	})
	return after
}

func TestRestartKeepsTheWindows(t *testing.T) {
	undisturbed := shrink(t, func(*world, int) {})
	for _, at := range []int{30, 61, 350} {
		restarted := shrink(t, func(w *world, second int) {
			if second == at {
				w.halt()
				w.start()
			}
		})
		if late := restarted - undisturbed; late < 0 || late > 15*time.Second {
			t.Errorf("restarted after %d s, it got smaller after %s, want what it is without a restart: %s", at, restarted, undisturbed)
		}
	}
}

func TestCrashNeverScalesDownEarlier(t *testing.T) {
	undisturbed := shrink(t, func(*world, int) {})
	for _, at := range []int{5, 61, 62, 70, 350} {
		crashed := shrink(t, func(w *world, second int) {
			if second == at {
				w.crash()
				w.start()
			}
		})
		if crashed < undisturbed {
			t.Errorf("killed after %d s, it got smaller after %s, which is earlier than without: %s", at, crashed, undisturbed)
		}
	}
}

func TestLongPauseScalesNothingDownAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 8)
		w.source.Value("q", 80)
		w.writeDurable(queueWorkload("web", "q"))
		w.start()
		pass(time.Minute)
		w.halt()
		pass(time.Hour)
		w.source.Value("q", 20)
		w.start()
		pass(4 * time.Minute)
		if n := fake.Replicas(); n != 8 {
			t.Errorf("the target stands at %d within its window, want 8", n)
		}
		pass(2 * time.Minute)
		if n := fake.Replicas(); n != 2 {
			t.Errorf("the target stands at %d after its window, want 2", n)
		}
	})
}

func TestRestartKeepsScaleEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		w.source.Value("q", 500)
		w.writeDurable(queueWorkload("web", "q") + `
[workload.behavior.scale_up]
policies = [{ type = "instances", value = 3, period = "10m" }]
`)
		w.start()
		for range 9 {
			pass(time.Minute)
			w.halt()
			w.start()
		}
		if n := fake.Replicas(); n != 5 {
			t.Errorf("the target stands at %d replicas, want 5: 3 more per 10 minutes", n)
		}
		pass(2 * time.Minute)
		if n := fake.Replicas(); n != 8 {
			t.Errorf("the target stands at %d replicas, want 8 in the next 10 minutes", n)
		}
	})
}

func TestWorkloadAtZeroComesBackAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 3)
		w.source.Value("q", 0)
		w.writeDurable(strings.Replace(queueWorkload("web", "q", "scale_to_zero = true"), "min_replicas = 1", "min_replicas = 0", 1))
		w.start()
		pass(6 * time.Minute)
		if n := fake.Replicas(); n != 0 {
			t.Fatalf("the target stands at %d replicas, want 0", n)
		}
		w.halt()
		w.start()
		pass(20 * time.Second)
		if c := w.condition("web", "ScaledToZero"); c.Status != "True" || c.Reason != algorithm.ReasonScaledToZero {
			t.Errorf("ScaledToZero is %s/%s, want True/ScaledToZero", c.Status, c.Reason)
		}
		w.source.Value("q", 30)
		pass(15 * time.Second)
		if n := fake.Replicas(); n != 3 {
			t.Errorf("the target stands at %d replicas, want 3", n)
		}
	})
}

func TestStateIsPrivate(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.writeDurable()
		w.start()
		pass(time.Second)
		for path, want := range map[string]os.FileMode{w.stateDir(): 0o700, w.stateFile(): 0o600} {
			if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != want {
				t.Errorf("%s: mode %v, %v; want %v", path, stat.Mode().Perm(), err, want)
			}
		}
	})
}

func TestWithoutStateDirNothingIsWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q"))
		w.start()
		pass(time.Minute)
		files, err := os.ReadDir(filepath.Dir(w.path))
		if err != nil || len(files) != 1 {
			t.Errorf("the folder holds %v, %v; want the configuration only", files, err)
		}
	})
}

func TestNothingIsCommittedWhenNothingHappened(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.writeDurable()
		w.start()
		pass(10 * time.Second)
		before := w.commits()
		pass(time.Hour)
		if n := w.commits() - before; n != 0 {
			t.Errorf("%s commits in an hour without workloads, want none", fmt.Sprint(n))
		}
	})
}

func (w *world) commits() (n uint64) {
	w.t.Helper()
	families, err := w.daemon.metrics.registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "hpad_state_commit_duration_seconds" {
			n = family.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	return n
}

func TestManyWorkloadsAreCommittedTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var text []string
		for i := range 100 {
			name := fmt.Sprintf("w%d", i)
			w.targets.Add(name, 2)
			w.source.Value(name, 20)
			text = append(text, queueWorkload(name, name))
		}
		w.writeDurable(text...)
		w.start()
		pass(time.Minute)
		if n := w.commits(); n < 4 || n > 32 {
			t.Errorf("%d commits in a minute, want one per two seconds at most", n)
		}
		w.halt()
		s := w.openKept()
		for i := range 100 {
			if _, found := s.load(fmt.Sprintf("w%d", i)); !found {
				t.Fatalf("nothing is kept of workload %d", i)
			}
		}
	})
}

func TestDiskThatTakesNothingStopsNoScaling(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.writeDurable(queueWorkload("web", "q"))
		w.start()
		pass(time.Minute)
		w.log.take()
		thaw := w.freeze()
		w.source.Value("q", 80)
		pass(time.Minute)
		thaw()
		if n := fake.Replicas(); n != 8 {
			t.Errorf("the target stands at %d replicas, want 8", n)
		}
		if n := testutil.ToFloat64(w.daemon.metrics.state.failures); n == 0 {
			t.Error("no failure was counted")
		}
		if log := w.log.take(); strings.Count(log, "cannot write the state") != 1 {
			t.Errorf("the failure must be one line, is:\n%s", log)
		}
		pass(10 * time.Second)
		if log := w.log.take(); strings.Count(log, "the state is written again") != 1 {
			t.Errorf("the recovery must be one line, is:\n%s", log)
		}
		want := w.daemon.find("web").snapshot().Memory
		w.halt()
		if kept, _ := w.openKept().load("web"); !reflect.DeepEqual(kept.state.Memory, want) {
			t.Errorf("kept is %v, want %v", kept.state.Memory, want)
		}
	})
}

// freeze makes the disk read-only, until thaw is called.
func (w *world) freeze() (thaw func()) {
	w.t.Helper()
	text, err := os.ReadFile(w.stateFile())
	if err != nil {
		w.t.Fatal(err)
	}
	frozen := filepath.Join(w.t.TempDir(), stateFile)
	if err := os.WriteFile(frozen, text, 0o400); err != nil {
		w.t.Fatal(err)
	}
	db, err := bolt.Open(frozen, 0, &bolt.Options{ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	s := w.daemon.state
	usual := s.db
	s.use(db)
	return func() {
		s.use(usual)
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

func TestDiskThatHangsIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{
			log: slog.New(slog.DiscardHandler), metrics: newStateMetrics(),
			dirty: map[string]saved{}, urgent: make(chan struct{}, 1),
		}
		began := time.Now()
		s.commit("web", saved{})
		if waited := time.Since(began); waited != maxCommitWait {
			t.Errorf("waited %s, want %s", waited, maxCommitWait)
		}
		if n := testutil.ToFloat64(s.metrics.failures); n != 1 {
			t.Errorf("%v failures are counted, want 1", n)
		}
	})
}

func TestForgottenAfterAWeekUnlessConfigured(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for _, name := range []string{"stays", "goes"} {
			w.targets.Add(name, 2)
		}
		w.source.Value("q", 20)
		w.writeDurable(queueWorkload("stays", "q"), queueWorkload("goes", "q"))
		w.start()
		pass(20 * time.Second)
		w.writeDurable(queueWorkload("stays", "q"))
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		if _, found := w.daemon.state.load("goes"); !found {
			t.Error("the state is forgotten at once")
		}
		w.halt()
		w.source.Fail("q", fmt.Errorf("no answer"))
		pass(8 * 24 * time.Hour)
		w.start()
		pass(5 * time.Second)
		if _, found := w.daemon.state.load("goes"); found {
			t.Error("the state of a workload gone for 8 days is still there")
		}
		if n := len(w.daemon.find("stays").snapshot().Memory.Recommendations); n == 0 {
			t.Error("the state of the workload that is still configured is gone")
		}
	})
}

func TestWorkloadThatComesBackGetsItsStateBack(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		fake := w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.writeDurable(queueWorkload("web", "q"))
		w.start()
		pass(40 * time.Second)
		scaled := w.workload("web").LastScale
		for _, config := range []string{"", queueWorkload("web", "q")} {
			w.writeDurable(config)
			if err := w.reload(); err != nil {
				t.Fatal(err)
			}
		}
		w.source.Value("q", 20)
		pass(10 * time.Second)
		if got := w.workload("web").LastScale; !got.Equal(scaled) || fake.Replicas() != 8 {
			t.Errorf("last scale %s and %d replicas, want %s and 8", got, fake.Replicas(), scaled)
		}
	})
}
