package docker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hpad/hpad/internal/dockertest"
	"github.com/hpad/hpad/sources/internal/cgroup"
	"github.com/hpad/hpad/targets"
)

// sweepSize is the number of containers of a benchmark.
const sweepSize = 200

func manyInstances() []targets.Instance {
	instances := make([]targets.Instance, sweepSize)
	for i := range instances {
		instances[i] = instanceOf(fmt.Sprintf("%064x", i+1))
	}
	return instances
}

// realGroups makes a control group per instance in the hierarchies of this machine.
func realGroups(b *testing.B, instances []targets.Instance) *Source {
	set := defaults()
	set.Prefer = preferCgroup
	s := open(slog.New(slog.DiscardHandler), set, newEngine(noEngine, nil, time.Second), "/proc")
	b.Cleanup(func() { _ = s.Close() })
	l := cgroup.Detect(set.CgroupRoot, "/proc")
	for _, h := range []cgroup.Hierarchy{l.CPU, l.Memory} {
		parent := fmt.Sprintf("%s/hpad-bench-%d", h.Point, os.Getpid())
		makeGroup(b, parent)
		if h.Controller == "" {
			// Not allowed where the group has processes or is not ours to divide: makeGroup skips.
			_ = os.WriteFile(parent+"/cgroup.subtree_control", []byte("+cpu +memory"), 0)
		}
		for i := range instances {
			makeGroup(b, filepath.Join(parent, instances[i].ContainerID))
		}
	}
	return s
}

func makeGroup(b *testing.B, dir string) {
	if err := os.Mkdir(dir, 0o755); os.IsExist(err) {
		return // cgroup v2: one hierarchy for both resources
	} else if err != nil {
		b.Skipf("needs control groups that can be written: %v", err)
	}
	b.Cleanup(func() { _ = os.Remove(dir) })
}

// fixtureGroups makes them as plain files.
func fixtureGroups(b *testing.B, instances []targets.Instance) *Source {
	m := newMachine(b).unified()
	for i := range instances {
		m.put2("/docker/"+instances[i].ContainerID, counters{used: time.Second, usage: 5000, inactive: 1000})
	}
	return m.open(preferCgroup, noEngine)
}

func sweep(b *testing.B, s *Source, instances []targets.Instance, resources ...string) {
	at := time.Now()
	read := func() {
		at = at.Add(15 * time.Second)
		for _, resource := range resources {
			if _, err := s.ReadResource(context.Background(), resource, "", instances, at); err != nil {
				b.Fatal(err)
			}
		}
	}
	read()
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
	perContainer := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(len(instances))
	b.ReportMetric(perContainer, "ns/container")
}

func BenchmarkSweep(b *testing.B) {
	instances := manyInstances()
	b.Run("cgroup/cpu", func(b *testing.B) { sweep(b, realGroups(b, instances), instances, "cpu") })
	b.Run("cgroup/cpu+memory", func(b *testing.B) { sweep(b, realGroups(b, instances), instances, "cpu", "memory") })
	b.Run("kernel/cpu+memory", func(b *testing.B) { kernelOnly(b, realGroups(b, instances), instances) })
	b.Run("cgroup/cpu+memory/not-kept", func(b *testing.B) {
		s := realGroups(b, instances)
		s.budget.Limit = 0
		sweep(b, s, instances, "cpu", "memory")
	})
	b.Run("files/cpu+memory", func(b *testing.B) { sweep(b, fixtureGroups(b, instances), instances, "cpu", "memory") })
	b.Run("fake-engine/cpu+memory", func(b *testing.B) {
		e := newFakeEngine(b, "1.45")
		for i := range instances {
			e.put(instances[i].ContainerID, counters{used: time.Second, usage: 5000, inactive: 1000})
		}
		sweep(b, newMachine(b).open(preferAPI, e.host), instances, "cpu", "memory")
	})
}

// kernelOnly reads the same files and does nothing with them: what no program can go below.
func kernelOnly(b *testing.B, s *Source, instances []targets.Instance) {
	l := cgroup.Detect(s.locator.root, "/proc")
	parent := fmt.Sprintf("/hpad-bench-%d/", os.Getpid())
	var files []int
	for i := range instances {
		group := parent + instances[i].ContainerID + "/"
		for _, path := range []string{l.CPU.Point + group + l.Files.CPU, l.Memory.Point + group + l.Files.Memory, l.Memory.Point + group + "memory.stat"} {
			fd, err := syscall.Open(path, syscall.O_RDONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = syscall.Close(fd) })
			files = append(files, fd)
		}
	}
	for b.Loop() {
		for _, fd := range files {
			if _, err := syscall.Pread(fd, s.buffer, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
	perContainer := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(len(instances))
	b.ReportMetric(perContainer, "ns/container")
}

// BenchmarkRealEngine has few containers: a start costs half a second.
func BenchmarkRealEngine(b *testing.B) {
	e := realEngine(b)
	var instances []targets.Instance
	for range 10 {
		instances = append(instances, start(b, e, create(b, e)))
	}
	defer stopAll(b, e, instances)
	for _, prefer := range []string{preferCgroup, preferAPI} {
		b.Run(prefer, func(b *testing.B) { sweep(b, openReal(b, e, prefer), instances, "cpu", "memory") })
	}
}

func stopAll(b *testing.B, e *dockertest.Engine, instances []targets.Instance) {
	for i := range instances {
		stop(b, e, instances[i].ContainerID)
	}
}
