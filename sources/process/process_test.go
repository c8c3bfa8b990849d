package process

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/rate"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
)

func TestMain(m *testing.M) {
	if os.Getenv(workVariable) != "" {
		work()
		return
	}
	goleak.VerifyTestMain(m)
}

// tree is a process file system made by hand.
type tree struct {
	t    *testing.T
	root string
	boot time.Time
}

func newTree(t *testing.T) *tree {
	f := &tree{t: t, root: t.TempDir(), boot: time.Now().Add(-time.Hour)}
	f.write("stat", "cpu  1\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1\n")
	f.tick()
	return f
}

func (f *tree) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// tick brings the uptime up to date.
func (f *tree) tick() { f.write("uptime", fmt.Sprintf("%.2f 0.00\n", time.Since(f.boot).Seconds())) }

// process is one of a tree; CPU times are in hundredths of a second.
type process struct {
	pid, parent, group, session int
	self, children              int
	start                       time.Duration // since the boot
	state                       string
	pages                       int
}

func (f *tree) put(processes ...process) {
	f.t.Helper()
	f.tick()
	for _, p := range processes {
		if p.state == "" {
			p.state = "S"
		}
		dir := strconv.Itoa(p.pid)
		f.write(dir+"/stat", fmt.Sprintf("%d (a) b)) %s %d %d %d 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 1 0 %d 0 0\n",
			p.pid, p.state, p.parent, p.group, p.session, p.self, p.children, p.start.Milliseconds()/10))
		f.write(dir+"/statm", fmt.Sprintf("9999 %d 1 1 0 1 0\n", p.pages))
	}
}

func (f *tree) end(pid int) {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.root, strconv.Itoa(pid))); err != nil {
		f.t.Fatal(err)
	}
}

func read(t *testing.T, s *Source, resource string, in targets.Instance) algorithm.Sample {
	t.Helper()
	samples, err := s.ReadResource(t.Context(), resource, "", []targets.Instance{in}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return samples[0]
}

func instanceOf(pid int) targets.Instance { return targets.Instance{PID: pid} }

func TestCPUOfDescendantsCountsOnceEach(t *testing.T) {
	main := process{pid: 10, parent: 1, group: 10, session: 10, self: 100}
	child := process{pid: 11, parent: 10, group: 10, session: 10, self: 1000}
	orphan := process{pid: 12, parent: 1, group: 12, session: 10, self: 500}
	stranger := process{pid: 13, parent: 1, group: 13, session: 13, self: 90000}
	with := func(p process, self, children int) process {
		p.self, p.children = p.self+self, p.children+children
		return p
	}
	tests := map[string]struct {
		change func(f *tree)
		want   algorithm.Quantity // over ten seconds
	}{
		"the process itself":       {func(f *tree) { f.put(with(main, 500, 0)) }, 500},
		"a child":                  {func(f *tree) { f.put(with(child, 300, 0)) }, 300},
		"a member of its session":  {func(f *tree) { f.put(with(orphan, 200, 0)) }, 200},
		"not a stranger":           {func(f *tree) { f.put(with(stranger, 200, 0)) }, 0},
		"a child that ended":       {func(f *tree) { f.end(11); f.put(with(main, 0, 1000+250)) }, 250},
		"a child that ended alone": {func(f *tree) { f.end(11); f.put(with(main, 400, 0)) }, 400},
		"a child that began": {func(f *tree) {
			f.put(process{pid: 20, parent: 11, group: 10, session: 10, self: 70, children: 30, start: time.Hour})
		}, 100},
		"a child that began and ended": {func(f *tree) { f.put(with(main, 0, 600)) }, 600},
		"another child with the number of one that ended": {func(f *tree) {
			f.put(process{pid: 11, parent: 10, group: 10, session: 10, self: 100, start: time.Hour}, with(main, 0, 1000))
		}, 100},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTree(t)
				f.put(main, child, orphan, stranger)
				s := open(f.root)
				if got := read(t, s, "cpu", instanceOf(10)); got.Present {
					t.Fatalf("the first sample is %+v", got)
				}
				time.Sleep(10 * time.Second)
				f.tick()
				test.change(f)
				got := read(t, s, "cpu", instanceOf(10))
				want := algorithm.Sample{Present: true, Value: test.want, Time: time.Now(), Window: 10 * time.Second}
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestChildSeenToEndBeforeItsParentHasItsTimeCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree(t)
		main := process{pid: 10, parent: 1, group: 10, session: 10}
		f.put(main, process{pid: 11, parent: 10, group: 10, session: 10, self: 1000})
		s := open(f.root)
		read(t, s, "cpu", instanceOf(10))
		time.Sleep(10 * time.Second)
		f.end(11)
		f.tick()
		read(t, s, "cpu", instanceOf(10))
		time.Sleep(10 * time.Second)
		main.children = 1000
		f.put(main)
		if got := read(t, s, "cpu", instanceOf(10)); !got.Present || got.Value != 0 {
			t.Errorf("got %+v, want 0 cores", got)
		}
	})
}

func TestProcessesAreListedOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree(t)
		main := process{pid: 10, pages: 1}
		f.put(main)
		s := open(f.root)
		read(t, s, "memory", instanceOf(10))
		first := s.table
		time.Sleep(rate.MinWindow - time.Millisecond)
		f.tick()
		if read(t, s, "memory", instanceOf(10)); s.table != first {
			t.Error("listed again within the second")
		}
		time.Sleep(time.Millisecond)
		f.tick()
		if read(t, s, "memory", instanceOf(10)); s.table == first {
			t.Error("not listed again after a second")
		}
	})
}

func TestMemoryOfWhatCannotBeReadIsNotLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree(t)
		f.put(process{pid: 10, pages: 1}, process{pid: 11, parent: 10, pages: 1})
		f.write("11/statm", "nonsense")
		if got := read(t, open(f.root), "memory", instanceOf(10)); got.Present {
			t.Errorf("got %+v, want no sample", got)
		}
	})
}

func TestFreshProcessIsMeasuredFromItsStart(t *testing.T) {
	for age, want := range map[time.Duration]bool{time.Second: false, 10 * time.Second: true, 2 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			f := newTree(t)
			f.put(process{pid: 10, self: 500, start: time.Hour - age})
			got := read(t, open(f.root), "cpu", instanceOf(10))
			if got.Present != want {
				t.Errorf("age %v: got %+v", age, got)
			}
			if want && got.Value != 500 {
				t.Errorf("age %v: got %d, want 500", age, got.Value)
			}
		})
	}
}

func TestProcessThatIsNotTheInstanceHasNoSample(t *testing.T) {
	tests := map[string]struct {
		process process
		started time.Duration // of the instance, ago
	}{
		"ended":                         {process: process{pid: 11}},
		"zombie":                        {process: process{pid: 10, state: "Z", pages: 1}},
		"began long after the instance": {process: process{pid: 10, start: time.Hour - 10*time.Second, pages: 1}, started: time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTree(t)
				f.put(test.process)
				in := instanceOf(10)
				if test.started > 0 {
					in.Started = time.Now().Add(-test.started)
				}
				s := open(f.root)
				for range 2 {
					for _, resource := range []string{"cpu", "memory"} {
						if got := read(t, s, resource, in); got.Present {
							t.Errorf("%s is %+v", resource, got)
						}
					}
					time.Sleep(10 * time.Second)
					f.tick()
				}
			})
		})
	}
}

func TestProcessThatBeganBeforeItsInstanceIsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree(t)
		f.put(process{pid: 10, start: time.Minute, pages: 1})
		in := instanceOf(10)
		in.Started = time.Now().Add(-5 * time.Second)
		if got := read(t, open(f.root), "memory", in); !got.Present {
			t.Error("no sample")
		}
	})
}

func TestNumberUsedAgainBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree(t)
		f.put(process{pid: 10, self: 100})
		s := open(f.root)
		read(t, s, "cpu", instanceOf(10))
		time.Sleep(10 * time.Second)
		f.put(process{pid: 10, self: 700, start: time.Minute})
		if got := read(t, s, "cpu", instanceOf(10)); got.Present {
			t.Errorf("the first sample of another process is %+v", got)
		}
	})
}

func TestMemoryIsTheResidentSetOfAllMembers(t *testing.T) {
	f := newTree(t)
	f.put(process{pid: 10, pages: 3}, process{pid: 11, parent: 10, pages: 4}, process{pid: 12, parent: 1, pages: 100})
	at := time.Now()
	samples, err := open(f.root).ReadResource(t.Context(), "memory", "", []targets.Instance{instanceOf(10)}, at)
	want := algorithm.Sample{Present: true, Value: algorithm.Quantity(7 * os.Getpagesize() * 1000), Time: at}
	if err != nil || samples[0] != want {
		t.Errorf("got %+v, %v; want %+v", samples, err, want)
	}
}

func TestUnreadableProcessListIsAnError(t *testing.T) {
	s := open(filepath.Join(t.TempDir(), "absent"))
	_, err := s.ReadResource(t.Context(), "cpu", "", []targets.Instance{instanceOf(1)}, time.Now())
	if err == nil || sources.KindOf(err) != sources.Unavailable || !strings.Contains(err.Error(), "cannot list processes") {
		t.Errorf("the error is %v", err)
	}
}

func TestInstancesOfOtherMachinesCannotBeMeasured(t *testing.T) {
	f := newTree(t)
	f.put(process{pid: 10, pages: 1})
	in := instanceOf(10)
	in.Remote = true
	_, err := open(f.root).ReadResource(t.Context(), "memory", "", []targets.Instance{in}, time.Now())
	if err == nil || sources.KindOf(err) != sources.Unsupported {
		t.Errorf("the error is %v", err)
	}
}

func TestInstancesNobodyAsksForAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree(t)
		f.put(process{pid: 10}, process{pid: 11})
		s := open(f.root)
		read(t, s, "cpu", instanceOf(10))
		time.Sleep(forgetAfter + time.Second)
		f.tick()
		read(t, s, "cpu", instanceOf(11))
		if len(s.known) != 1 || s.known[11] == nil {
			t.Errorf("remembered: %v", s.known)
		}
	})
}

func TestWrongOptionsAreNamed(t *testing.T) {
	env := sources.Environment{Log: slog.New(slog.DiscardHandler)}
	for want, values := range map[string]map[string]any{
		"proc_root": {"proc_root": "proc"},
		"unknown":   {"unknown": 1},
	} {
		_, err := Driver().Open(env, options.NewTable("/", values))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: the error is %v", values, err)
		}
	}
	if s, err := Driver().Open(env, options.NewTable("/", nil)); err != nil || s.Close() != nil {
		t.Error(err)
	}
}

func TestFixtureKeepsTheContract(t *testing.T) {
	sourcetest.ResourceReader(t, true, func(t *testing.T) sourcetest.ResourceHarness {
		f := newTree(t)
		one := process{pid: 10, parent: 1, group: 10, session: 10, pages: 5}
		two := process{pid: 20, parent: 1, group: 20, session: 20, pages: 6}
		f.put(one, two)
		parts := []algorithm.Container{{Name: "main"}}
		return sourcetest.ResourceHarness{
			Reader: open(f.root),
			Instances: []targets.Instance{
				{Instance: algorithm.Instance{ID: "one", Containers: parts}, PID: 10},
				{Instance: algorithm.Instance{ID: "two", Containers: parts}, PID: 20},
			},
			Ended: targets.Instance{PID: 30},
			Step: func(*testing.T) time.Time {
				time.Sleep(15 * time.Second)
				one.self, two.self = one.self+100, two.self+1500
				f.put(one, two)
				return time.Now()
			},
		}
	})
}

func FuzzParseResident(f *testing.F) {
	f.Add([]byte("9999 12 1 1 0 1 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		pages, err := parseResident(text)
		if err == nil && pages > maxBytes/uint64(os.Getpagesize()) {
			t.Errorf("%q reads as %d pages", text, pages)
		}
	})
}
