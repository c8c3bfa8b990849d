package systemd

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
)

// tree is control groups made of plain files.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) *tree {
	f := &tree{t: t, root: t.TempDir()}
	f.write("proc/stat", "cpu0 1\ncpu1 1\n")
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

func (f *tree) open() *Source {
	s := open(f.root+"/cgroup", f.root+"/proc")
	f.t.Cleanup(func() { _ = s.Close() })
	return s
}

const group = "/system.slice/app@1.service"

func instance() targets.Instance {
	in := targets.Instance{PID: 1, Cgroup: group}
	in.ID = "app@1.service"
	return in
}

func TestCountersAreFoundInEveryLayout(t *testing.T) {
	memoryV1 := func(f *tree) {
		f.write("cgroup/memory"+group+"/memory.usage_in_bytes", "5000\n")
		f.write("cgroup/memory"+group+"/memory.stat", "total_inactive_file 1000\n")
	}
	for name, put := range map[string]func(f *tree, used int){
		"unified": func(f *tree, used int) {
			f.write("cgroup/cgroup.controllers", "cpu memory\n")
			f.write("cgroup"+group+"/cpu.stat", "usage_usec "+strconv.Itoa(used)+"000\n")
			f.write("cgroup"+group+"/memory.current", "5000\n")
			f.write("cgroup"+group+"/memory.stat", "inactive_file 1000\n")
		},
		"legacy": func(f *tree, used int) {
			f.write("cgroup/cpu,cpuacct"+group+"/cpuacct.usage", strconv.Itoa(used)+"000000\n")
			memoryV1(f)
		},
		"hybrid without CPUAccounting": func(f *tree, used int) {
			f.write("cgroup/cpu,cpuacct/cpuacct.usage", "1\n")
			f.write("cgroup/unified/cgroup.controllers", "\n")
			f.write("cgroup/unified"+group+"/cpu.stat", "usage_usec "+strconv.Itoa(used)+"000\n")
			memoryV1(f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTree(t)
				put(f, 1000)
				s := f.open()
				read(t, s, "cpu")
				time.Sleep(10 * time.Second)
				put(f, 3000)
				want := algorithm.Sample{Present: true, Value: 200, Time: time.Now(), Window: 10 * time.Second}
				if got := read(t, s, "cpu"); got != want {
					t.Errorf("cpu is %+v, want %+v", got, want)
				}
				want = algorithm.Sample{Present: true, Value: 4000 * 1000, Time: time.Now()}
				if got := read(t, s, "memory"); got != want {
					t.Errorf("memory is %+v, want %+v", got, want)
				}
			})
		})
	}
}

func read(t *testing.T, s *Source, resource string) algorithm.Sample {
	t.Helper()
	samples, err := s.ReadResource(t.Context(), resource, "", []targets.Instance{instance()}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return samples[0]
}

func TestWithoutCountersTheErrorSaysWhatToDo(t *testing.T) {
	f := newTree(t)
	f.write("cgroup/cpu,cpuacct/cpuacct.usage", "1\n")
	_, err := f.open().ReadResource(t.Context(), "cpu", "", []targets.Instance{instance()}, time.Now())
	if err == nil || sources.KindOf(err) != sources.Unsupported || !strings.Contains(err.Error(), "CPUAccounting=yes") {
		t.Errorf("the error is %v", err)
	}
	f.write("cgroup/cpu,cpuacct"+group+"/cpuacct.usage", "1\n")
	_, err = f.open().ReadResource(t.Context(), "memory", "", []targets.Instance{instance()}, time.Now())
	if err == nil || sources.KindOf(err) != sources.Unsupported || !strings.Contains(err.Error(), "MemoryAccounting=yes") {
		t.Errorf("the error is %v", err)
	}
}

func TestUnitThatEndedHasNoSampleAndNoError(t *testing.T) {
	f := newTree(t)
	f.write("cgroup/cpu,cpuacct/cpuacct.usage", "1\n")
	in := instance()
	in.PID = 0
	samples, err := f.open().ReadResource(t.Context(), "cpu", "", []targets.Instance{in}, time.Now())
	if err != nil || samples[0].Present {
		t.Errorf("got %+v, %v", samples, err)
	}
}

func TestUnitsNobodyAsksForAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTree(t)
		f.write("cgroup/cpu,cpuacct"+group+"/cpuacct.usage", "1000\n")
		s := f.open()
		read(t, s, "cpu")
		time.Sleep(forgetAfter + time.Second)
		if _, err := s.ReadResource(t.Context(), "cpu", "", nil, time.Now()); err != nil {
			t.Fatal(err)
		}
		if len(s.units) != 0 || s.budget.Kept != 0 {
			t.Errorf("%d units and %d files are left", len(s.units), s.budget.Kept)
		}
	})
}

func TestWrongOptionsAreNamed(t *testing.T) {
	env := sources.Environment{Log: slog.New(slog.DiscardHandler)}
	_, err := Driver().Open(env, options.NewTable("/", map[string]any{"cgroup_root": "cgroup"}))
	if key, _ := options.Key(err); key != "cgroup_root" {
		t.Errorf("the error is %v", err)
	}
}

func TestREADME(t *testing.T) { sourcetest.README(t, Driver(), defaults()) }
