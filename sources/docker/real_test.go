package docker

import (
	"log/slog"
	"math"
	"testing"
	"time"

	containers "github.com/docker/docker/api/types/container"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/dockertest"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
)

// shared is one real engine for all tests that need one.
var shared dockertest.Shared

const image = "workload"

// realEngine is the shared engine with the image of the workload.
func realEngine(t testing.TB) *dockertest.Engine {
	t.Helper()
	e := shared.Engine(t)
	if _, err := e.Client().ImageInspect(t.Context(), image); err != nil {
		e.ImportWorkload(t, image)
	}
	return e
}

// openReal opens the source as hpad does.
func openReal(t testing.TB, e *dockertest.Engine, prefer string) *Source {
	t.Helper()
	table := options.NewTable("/", map[string]any{"host": e.Host(), "prefer": prefer})
	s, err := Driver().Open(sources.Environment{Log: slog.New(slog.DiscardHandler)}, table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.(*Source)
}

// create makes a container that is busy on one core as far as its limit of 0.3 lets it.
func create(t testing.TB, e *dockertest.Engine) string {
	t.Helper()
	made, err := e.Client().ContainerCreate(t.Context(),
		&containers.Config{Image: image, Env: []string{"SPIN=1"}},
		&containers.HostConfig{NetworkMode: "none", Resources: containers.Resources{NanoCPUs: 300_000_000}}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func start(t testing.TB, e *dockertest.Engine, id string) targets.Instance {
	t.Helper()
	if err := e.Client().ContainerStart(t.Context(), id, containers.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	inspect, err := e.Client().ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	in := instanceOf(id)
	in.PID = inspect.State.Pid
	if in.Started, err = time.Parse(time.RFC3339Nano, inspect.State.StartedAt); err != nil {
		t.Fatal(err)
	}
	return in
}

func stop(t testing.TB, e *dockertest.Engine, id string) {
	t.Helper()
	now := 0
	if err := e.Client().ContainerStop(t.Context(), id, containers.StopOptions{Timeout: &now}); err != nil {
		t.Fatal(err)
	}
}

func TestRealContainersKeepTheContract(t *testing.T) {
	e := realEngine(t)
	one, two := start(t, e, create(t, e)), start(t, e, create(t, e))
	ended := instanceOf(create(t, e))
	for prefer, path := range map[string]Path{preferAuto: Cgroup, preferAPI: API} {
		t.Run(prefer, func(t *testing.T) {
			sourcetest.ResourceReader(t, false, func(t *testing.T) sourcetest.ResourceHarness {
				s := openReal(t, e, prefer)
				t.Cleanup(func() {
					for id, got := range s.Paths() {
						if got != path {
							t.Errorf("the path of %s is %q, want %q", id, got, path)
						}
					}
				})
				return sourcetest.ResourceHarness{
					Reader: s, Instances: []targets.Instance{one, two}, Ended: ended, Step: func(t *testing.T) time.Time { return nextSecond(t) },
				}
			})
		})
	}
}

func TestControlGroupAndEngineAgree(t *testing.T) {
	e := realEngine(t)
	in := start(t, e, create(t, e))
	local, remote := openReal(t, e, preferCgroup), openReal(t, e, preferAPI)
	read := func(resource string) (l, r algorithm.Sample) {
		at := time.Now()
		return readOne(t, local, resource, in, at), readOne(t, remote, resource, in, at)
	}
	nextSecond(t)
	read("cpu")
	for range 4 {
		nextSecond(t)
	}
	l, r := read("cpu")
	// A window edge may fall anywhere in the tenths of a second the limit is enforced in.
	if !l.Present || !r.Present || distance(l, r) > 30 {
		t.Errorf("cpu: control group %+v, engine %+v", l, r)
	}
	if l.Value > 330 || l.Value < 100 {
		t.Errorf("cpu is %d, the limit is 300", l.Value)
	}
	l, r = read("memory")
	if !l.Present || !r.Present || distance(l, r) > 0.2*float64(l.Value) {
		t.Errorf("memory: control group %+v, engine %+v", l, r)
	}
}

func distance(a, b algorithm.Sample) float64 { return math.Abs(float64(a.Value - b.Value)) }

func TestRealRestartIsMissingThenMeasuredAgain(t *testing.T) {
	e := realEngine(t)
	for _, prefer := range []string{preferAuto, preferCgroup, preferAPI} {
		t.Run(prefer, func(t *testing.T) {
			id := create(t, e)
			in := start(t, e, id)
			s := openReal(t, e, prefer)
			measured := func(when string) {
				t.Helper()
				readOne(t, s, "cpu", in, time.Now())
				if got := readOne(t, s, "cpu", in, nextSecond(t)); !got.Present || got.Value == 0 {
					t.Errorf("%s: cpu is %+v", when, got)
				}
				if got := readOne(t, s, "memory", in, time.Now()); !got.Present || got.Value == 0 {
					t.Errorf("%s: memory is %+v", when, got)
				}
			}
			missing := func(when string, resources ...string) {
				t.Helper()
				for _, resource := range resources {
					if got := readOne(t, s, resource, in, nextSecond(t)); got.Present {
						t.Errorf("%s: %s is %+v", when, resource, got)
					}
				}
			}
			measured("at first")
			stop(t, e, id)
			missing("stopped", "cpu", "memory", "cpu")
			in = start(t, e, id)
			missing("just restarted", "cpu")
			measured("restarted")
			// The same place and the same instance, as a target says it that has not looked since.
			stop(t, e, id)
			start(t, e, id)
			missing("restarted unseen", "cpu")
			measured("restarted unseen")
		})
	}
}

func TestLocalContainersAreMeasuredWhileTheEngineIsDown(t *testing.T) {
	e := realEngine(t)
	in := start(t, e, create(t, e))
	set := defaults()
	set.Host = noEngine
	s := open(slog.New(slog.DiscardHandler), set, newEngine(noEngine, nil, set.Timeout.Std()), "/proc")
	defer s.Close()
	readOne(t, s, "memory", in, time.Now())
	readOne(t, s, "cpu", in, time.Now())
	if got := readOne(t, s, "cpu", in, nextSecond(t)); !got.Present || got.Value == 0 {
		t.Errorf("cpu is %+v", got)
	}
}
