package dockerswarm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/swarm"
	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/dockertest"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/targettest"
)

// testSwarm is one swarm for all tests that need a real one.
type testSwarm struct {
	shared  dockertest.Shared
	prepare sync.Once
}

var real testSwarm

func TestMain(m *testing.M) {
	code := m.Run()
	if err := real.shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func (s *testSwarm) engine(t testing.TB) *dockertest.Engine {
	t.Helper()
	e := s.shared.Engine(t)
	s.prepare.Do(func() {
		e.ImportWorkload(t, "workload")
		e.SwarmInit(t)
	})
	return e
}

// service is a service of the real swarm, seen past the driver.
type service struct {
	t      *testing.T
	engine *dockertest.Engine
	spec   swarm.ServiceSpec
}

// newService creates a service of the test's name. Updates of it are quick to be over.
func newService(t *testing.T, edit func(*swarm.ServiceSpec)) *service {
	t.Helper()
	s := &service{t: t, engine: real.engine(t)}
	name := strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())
	s.spec.Name = name[max(0, len(name)-50):]
	s.spec.TaskTemplate.ContainerSpec = &swarm.ContainerSpec{Image: "workload", Env: []string{"PASSWORD=hunter2"}}
	s.spec.Mode.Replicated = &swarm.ReplicatedService{Replicas: new(uint64)}
	s.spec.UpdateConfig = &swarm.UpdateConfig{Parallelism: 1, Monitor: 200 * time.Millisecond}
	s.spec.RollbackConfig = &swarm.UpdateConfig{Parallelism: 1, Monitor: 200 * time.Millisecond}
	edit(&s.spec)
	s.create()
	t.Cleanup(s.remove)
	return s
}

func replicated(n uint64) func(*swarm.ServiceSpec) {
	return func(spec *swarm.ServiceSpec) { *spec.Mode.Replicated.Replicas = n }
}

func (s *service) create() {
	if _, err := s.engine.Client().ServiceCreate(context.Background(), s.spec, swarm.ServiceCreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) remove() {
	err := s.engine.Client().ServiceRemove(context.Background(), s.spec.Name)
	if err != nil && !errdefs.IsNotFound(err) {
		s.t.Error(err)
	}
}

func (s *service) inspect() swarm.Service {
	seen, _, err := s.engine.Client().ServiceInspectWithRaw(context.Background(), s.spec.Name, swarm.ServiceInspectOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return seen
}

// update changes the service as another client would, who tries again when it was too late.
func (s *service) update(edit func(*swarm.ServiceSpec)) {
	for {
		seen := s.inspect()
		edit(&seen.Spec)
		_, err := s.engine.Client().ServiceUpdate(context.Background(), seen.ID, seen.Version, seen.Spec, swarm.ServiceUpdateOptions{})
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "out of sequence") {
			s.t.Fatal(err)
		}
	}
}

func (s *service) replicas() int32 { return int32(*s.inspect().Spec.Mode.Replicated.Replicas) }

// connect opens a connection to the real swarm that runs through a proxy.
func (s *service) connect() (targets.Connection, *targettest.Proxy) {
	s.t.Helper()
	socket := strings.TrimPrefix(s.engine.Host(), "unix://")
	proxy := targettest.NewProxy(s.t, func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	})
	return connect(s.t, "tcp://"+proxy.Address()), proxy
}

// target binds a target for the service.
func (s *service) target() *target {
	s.t.Helper()
	return s.bind(s.spec.Name)
}

func (s *service) bind(name string) *target {
	s.t.Helper()
	connection, _ := s.connect()
	s.t.Cleanup(func() { _ = connection.Close() })
	bound, err := connection.Bind(table("service", name))
	if err != nil {
		s.t.Fatal(err)
	}
	return bound.(*target)
}

func connect(t testing.TB, host string) targets.Connection {
	t.Helper()
	connection, err := Driver().Open(environment(io.Discard), table("host", host))
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

func environment(log io.Writer) targets.Environment {
	return targets.Environment{Log: slog.New(slog.NewTextHandler(log, nil))}
}

func table(pairs ...any) options.Table {
	values := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i].(string)] = pairs[i+1]
	}
	return options.NewTable("/etc/hpad", values)
}

// eventually polls until check returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func mustStatus(t *testing.T, target targets.Target) targets.Status {
	t.Helper()
	status, err := target.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// eventuallyRunning waits until n instances run, and returns the Status that says so.
func eventuallyRunning(t *testing.T, target targets.Target, n int) targets.Status {
	t.Helper()
	var status targets.Status
	eventually(t, func() error {
		status = mustStatus(t, target)
		running := 0
		for i := range status.Instances {
			if !status.Instances[i].Started.IsZero() && !status.Instances[i].Deleting {
				running++
			}
		}
		if running != n || len(status.Instances) != n {
			return fmt.Errorf("%d of %d instances run, want %d", running, len(status.Instances), n)
		}
		return nil
	})
	return status
}

func wantClass(t *testing.T, err error, want targets.Class) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one of class %v", want)
	} else if got := targets.ClassOf(err, true); got != want {
		t.Errorf("the class of %q is %v, want %v", err, got, want)
	}
}

var errStillThere = errors.New("it is still so")
