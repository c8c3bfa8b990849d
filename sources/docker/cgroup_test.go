package docker

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
)

func TestContainersAreFoundWhereEnginesPutThem(t *testing.T) {
	a := id("a")
	process := func(m *machine, text string) targets.Instance {
		m.write(m.proc+"/42/cgroup", text)
		in := instanceOf(a)
		in.PID = 42
		return in
	}
	c := counters{used: time.Second, usage: 5000, inactive: 1000}
	tests := map[string]func(m *machine) targets.Instance{
		"v2, cgroupfs": func(m *machine) targets.Instance { m.unified().put2("/docker/"+a, c); return instanceOf(a) },
		"v2, systemd": func(m *machine) targets.Instance {
			m.unified().put2("/system.slice/docker-"+a+".scope", c)
			return instanceOf(a)
		},
		"v2, podman": func(m *machine) targets.Instance {
			m.unified().put2("/machine.slice/libpod-"+a+".scope", c)
			return instanceOf(a)
		},
		"v2, podman cgroupfs": func(m *machine) targets.Instance {
			m.unified().put2("/libpod_parent/libpod-"+a, c)
			return instanceOf(a)
		},
		"v1, cgroupfs": func(m *machine) targets.Instance {
			m.legacy("cpuacct").put1("cpuacct", "/docker/"+a, c)
			return instanceOf(a)
		},
		"v1, both CPU controllers together": func(m *machine) targets.Instance {
			m.legacy("cpu,cpuacct").put1("cpu,cpuacct", "/system.slice/docker-"+a+".scope", c)
			return instanceOf(a)
		},
		"v2, its own parent, by its process": func(m *machine) targets.Instance {
			m.unified().put2("/my/parent/"+a, c)
			return process(m, "0::/my/parent/"+a+"\n")
		},
		"v2, divided inside": func(m *machine) targets.Instance {
			m.unified().put2("/my/libpod-"+a+".scope", c)
			m.put2("/my/libpod-"+a+".scope/container", counters{used: 1, usage: 1})
			return process(m, "0::/my/libpod-"+a+".scope/container\n")
		},
		"v1, different in each hierarchy": func(m *machine) targets.Instance {
			m.legacy("cpuacct").put1("cpuacct", "/x/"+a, c)
			if err := os.Rename(m.cgroup+"/memory/x", m.cgroup+"/memory/y"); err != nil {
				t.Fatal(err)
			}
			return process(m, "3:memory:/y/"+a+"\n2:cpuacct:/x/"+a+"\n1:cpu:/\n0::/\n")
		},
		"deep below, without its process": func(m *machine) targets.Instance {
			m.unified().put2("/user.slice/user-1.slice/user@1.service/user.slice/docker-"+a+".scope", c)
			return instanceOf(a)
		},
		"another process has the number": func(m *machine) targets.Instance {
			m.unified().put2("/own/"+a, c)
			m.put2("/docker/"+id("b"), counters{used: 9, usage: 9})
			return process(m, "0::/docker/"+id("b")+"\n")
		},
		"a part of the tree is mounted": func(m *machine) targets.Instance {
			m.unified().put2("/inner/"+a, c)
			m.write(m.proc+"/self/mountinfo", "9 1 0:9 /docker/outer "+m.cgroup+" rw - cgroup2 cgroup rw\n")
			return process(m, "0::/docker/outer/inner/"+a+"\n")
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t)
				in := prepare(m)
				s := m.open(preferAuto, noEngine)
				got := readOne(t, s, "memory", in, time.Now())
				want := algorithm.Sample{Present: true, Value: 4000_000, Time: time.Now()}
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if path := s.Paths()[a]; path != Cgroup {
					t.Errorf("the path is %q", path)
				}
			})
		})
	}
}

func TestWhatIsNotTheContainersOwnGroupIsNotRead(t *testing.T) {
	a := id("a")
	c := counters{used: time.Second, usage: 5000}
	tests := map[string]func(m *machine) targets.Instance{
		"a short id": func(m *machine) targets.Instance {
			m.unified().put2("/docker/"+a[:12], c)
			return instanceOf(a[:12])
		},
		"an id that is a path": func(m *machine) targets.Instance {
			m.unified().put2("/docker/x", c)
			return instanceOf("../docker/x")
		},
		"a group of a name around it": func(m *machine) targets.Instance {
			m.unified().put2("/x/"+a+a, c)
			return instanceOf(a)
		},
		"Podman's watcher": func(m *machine) targets.Instance {
			m.unified().put2("/machine.slice/libpod-conmon-"+a+".scope", c)
			in := instanceOf(a)
			in.PID = 42
			m.write(m.proc+"/42/cgroup", "0::/machine.slice/libpod-conmon-"+a+".scope\n")
			return in
		},
		"outside of the mount": func(m *machine) targets.Instance {
			m.unified()
			in := instanceOf(a)
			in.PID = 42
			m.write(m.proc+"/42/cgroup", "0::/../"+a+"\n")
			return in
		},
		"v2 without controllers": func(m *machine) targets.Instance {
			m.write(m.cgroup+"/cgroup.controllers", "cpu pids\n")
			m.put2("/docker/"+a, c)
			return instanceOf(a)
		},
		"another machine's": func(m *machine) targets.Instance { m.unified(); return instanceOf(a) },
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			in := prepare(m)
			s := m.open(preferCgroup, noEngine)
			if got := readOne(t, s, "memory", in, time.Now()); got.Present {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestCPUIsAnAverageSinceTheReadingBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t).unified()
		a := id("a")
		s := m.open(preferAuto, noEngine)
		m.put2("/docker/"+a, counters{used: 100 * time.Second, usage: 1})
		if got := readOne(t, s, "cpu", instanceOf(a), time.Now()); got.Present {
			t.Errorf("the first sample is %+v", got)
		}
		time.Sleep(15 * time.Second)
		m.put2("/docker/"+a, counters{used: 103 * time.Second, usage: 1})
		at := time.Now()
		want := algorithm.Sample{Present: true, Value: 200, Time: at, Window: 15 * time.Second}
		if got := readOne(t, s, "cpu", instanceOf(a), at); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestFreshContainerIsMeasuredFromItsStart(t *testing.T) {
	tests := map[string]struct {
		said, process time.Duration // ago; 0 is unknown
		want          algorithm.Quantity
	}{
		"as its process shows":              {process: 10 * time.Second, want: 500},
		"and not as the target says":        {said: 2500 * time.Millisecond, process: 20 * time.Second, want: 250},
		"which alone proves nothing":        {said: 10 * time.Second},
		"unknown":                           {},
		"long ago":                          {process: 2 * time.Minute},
		"with more than the machine can do": {process: 2 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t).unified()
				a := id("a")
				m.put2("/docker/"+a, counters{used: 5 * time.Second, usage: 1})
				in := instanceOf(a)
				if test.said > 0 {
					in.Started = time.Now().Add(-test.said)
				}
				if test.process > 0 {
					in.PID = 42
					start := (time.Hour - test.process).Milliseconds() / 10
					m.write(m.proc+"/42/cgroup", "0::/docker/"+a+"\n")
					m.write(m.proc+"/42/stat", fmt.Sprintf("42 (a) S 1 42 42 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 %d 0\n", start))
				}
				got := readOne(t, m.open(preferAuto, noEngine), "cpu", in, time.Now())
				if got.Present != (test.want > 0) || got.Value != test.want {
					t.Errorf("got %+v, want %d", got, test.want)
				}
			})
		})
	}
}

func TestRestartedContainerIsMissingThenMeasuredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t).unified()
		a, name := id("a"), "/docker/"+id("a")
		in := instanceOf(a)
		in.Started = time.Now().Add(-time.Hour)
		s := m.open(preferCgroup, noEngine)
		m.put2(name, counters{used: 100 * time.Second, usage: 1})
		readOne(t, s, "cpu", in, time.Now())
		time.Sleep(15 * time.Second)
		if err := os.RemoveAll(m.cgroup + name); err != nil {
			t.Fatal(err)
		}
		in.Started = time.Now()
		if got := readOne(t, s, "cpu", in, time.Now()); got.Present {
			t.Errorf("of a container without a group: %+v", got)
		}
		time.Sleep(15 * time.Second)
		m.put2(name, counters{used: 200 * time.Second, usage: 1})
		if got := readOne(t, s, "cpu", in, time.Now()); got.Present {
			t.Errorf("right after the restart: %+v", got)
		}
		time.Sleep(15 * time.Second)
		m.put2(name, counters{used: 203 * time.Second, usage: 1})
		if got := readOne(t, s, "cpu", in, time.Now()); !got.Present || got.Value != 200 {
			t.Errorf("after the restart: %+v", got)
		}
	})
}

func TestGarbageIsMissingNotZero(t *testing.T) {
	tests := map[string]map[string]string{
		"empty":    {"cpu.stat": "", "memory.current": "", "memory.stat": ""},
		"zero":     {"cpu.stat": "usage_usec 0\n", "memory.current": "0\n", "memory.stat": "inactive_file 0\n"},
		"negative": {"cpu.stat": "usage_usec -1\n", "memory.current": "-1\n", "memory.stat": "inactive_file 0\n"},
		"too much": {"cpu.stat": "usage_usec 18446744073709551615\n", "memory.current": "18446744073709551615\n", "memory.stat": "inactive_file 0\n"},
		"no field": {"cpu.stat": "xusage_usec 5\n", "memory.current": "5\n", "memory.stat": "workingset_inactive_file 5\n"},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t).unified()
				a := id("a")
				for file, text := range files {
					m.write(m.cgroup+"/docker/"+a+"/"+file, text)
				}
				s := m.open(preferCgroup, noEngine)
				for range 2 {
					for _, resource := range []string{"cpu", "memory"} {
						if got := readOne(t, s, resource, instanceOf(a), time.Now()); got.Present {
							t.Errorf("%s is %+v", resource, got)
						}
					}
					time.Sleep(15 * time.Second)
				}
			})
		})
	}
}

func TestContainersNobodyAsksForAreForgottenWithTheirFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t).unified()
		s := m.open(preferCgroup, noEngine)
		for i := range 10 {
			name := id(strconv.Itoa(i))
			m.put2("/docker/"+name, counters{used: 1, usage: 1})
			readOne(t, s, "memory", instanceOf(name), time.Now())
		}
		if s.budget.Kept != 20 {
			t.Errorf("%d files are open, want 20", s.budget.Kept)
		}
		time.Sleep(forgetAfter + time.Second)
		readOne(t, s, "memory", instanceOf(id("0")), time.Now())
		if len(s.containers) != 1 || s.budget.Kept != 2 {
			t.Errorf("%d containers and %d files are left", len(s.containers), s.budget.Kept)
		}
	})
}

func TestMoreContainersThanFilesAreMeasuredAllTheSame(t *testing.T) {
	m := newMachine(t).unified()
	s := m.open(preferCgroup, noEngine)
	s.budget.Limit = 5
	var instances []targets.Instance
	for i := range 10 {
		m.put2("/docker/"+id(strconv.Itoa(i)), counters{used: 1, usage: 5, inactive: 1})
		instances = append(instances, instanceOf(id(strconv.Itoa(i))))
	}
	for range 3 {
		samples, err := s.ReadResource(t.Context(), "memory", "", instances, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for i, sample := range samples {
			if !sample.Present || sample.Value != 4000 {
				t.Errorf("instance %d: %+v", i, sample)
			}
		}
		if s.budget.Kept > s.budget.Limit {
			t.Errorf("%d files are open, more than %d", s.budget.Kept, s.budget.Limit)
		}
	}
}

func TestInstancesOfOtherMachinesAreNotAsked(t *testing.T) {
	m := newMachine(t).unified()
	s := m.open(preferAuto, noEngine)
	m.put2("/docker/"+id("a"), counters{used: 1, usage: 5})
	remote := instanceOf(id("a"))
	remote.Remote = true
	_, err := s.ReadResource(t.Context(), "memory", "", []targets.Instance{remote}, time.Now())
	if err == nil || sources.KindOf(err) != sources.Unsupported {
		t.Errorf("the error is %v", err)
	}
	samples, err := s.ReadResource(t.Context(), "memory", "", []targets.Instance{remote, instanceOf(id("a"))}, time.Now())
	if err != nil || samples[0].Present || !samples[1].Present {
		t.Errorf("got %+v, %v", samples, err)
	}
}

func TestControlGroupsKeepTheContract(t *testing.T) {
	sourcetest.ResourceReader(t, true, func(t *testing.T) sourcetest.ResourceHarness {
		m := newMachine(t).unified()
		used := time.Second
		step := func(*testing.T) time.Time {
			time.Sleep(15 * time.Second)
			used += 3 * time.Second
			for _, name := range []string{id("a"), id("b")} {
				m.put2("/docker/"+name, counters{used: used, usage: 5000, inactive: 1000})
			}
			return time.Now()
		}
		return sourcetest.ResourceHarness{
			Reader:    m.open(preferCgroup, noEngine),
			Instances: []targets.Instance{instanceOf(id("a")), instanceOf(id("b"))},
			Ended:     instanceOf(id("c")),
			Step:      step,
		}
	})
}
