package docker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/dockertest"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/targettest"
)

// testEngine is one engine for all tests that need a real one.
type testEngine struct {
	shared  dockertest.Shared
	prepare sync.Once
}

var real testEngine

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

func (e *testEngine) engine(t testing.TB) *dockertest.Engine {
	t.Helper()
	engine := e.shared.Engine(t)
	e.prepare.Do(func() { engine.ImportWorkload(t, "workload") })
	return engine
}

// service is a Compose service of the real engine, made as Compose makes it, and seen past the
// driver.
type service struct {
	t       *testing.T
	engine  *dockertest.Engine
	project string
	edit    func(*container.Config, *container.HostConfig, *network.NetworkingConfig)
}

func newService(t *testing.T, replicas int, edits ...func(*container.Config, *container.HostConfig, *network.NetworkingConfig)) *service {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	s := &service{t: t, engine: real.engine(t), project: strings.Trim(name[max(0, len(name)-40):], "-")}
	s.edit = func(c *container.Config, h *container.HostConfig, n *network.NetworkingConfig) {
		for _, edit := range edits {
			edit(c, h, n)
		}
	}
	t.Cleanup(func() {
		s.removeAll()
		_ = s.api().NetworkRemove(context.Background(), s.project+"_default")
	})
	if _, err := s.api().NetworkCreate(t.Context(), s.project+"_default", network.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for n := range replicas {
		s.add(n + 1)
	}
	return s
}

func (s *service) api() *client.Client { return s.engine.Client() }

func (s *service) name(n int) string { return s.project + "-web-" + strconv.Itoa(n) }

// create makes the container with that number and does not start it.
func (s *service) create(n int, labels ...string) string {
	s.t.Helper()
	config := &container.Config{Image: "workload", Env: []string{"PASSWORD=hunter2"}, Labels: map[string]string{
		labelProject: s.project, labelService: "web", labelNumber: strconv.Itoa(n), labelOneOff: "False", labelHash: "h1",
	}}
	for i := 0; i < len(labels); i += 2 {
		config.Labels[labels[i]] = labels[i+1]
	}
	host := &container.HostConfig{NetworkMode: container.NetworkMode(s.project + "_default")}
	nets := &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
		s.project + "_default": {Aliases: []string{s.name(n), "web"}},
	}}
	s.edit(config, host, nets)
	made, err := s.api().ContainerCreate(context.Background(), config, host, nets, nil, s.name(n))
	if err != nil {
		s.t.Fatal(err)
	}
	return made.ID
}

// add makes the container with that number as Compose would, and starts it.
func (s *service) add(n int, labels ...string) string {
	s.t.Helper()
	id := s.create(n, labels...)
	if err := s.api().ContainerStart(context.Background(), id, container.StartOptions{}); err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *service) list() []container.Summary {
	own := filters.NewArgs(filters.Arg("label", labelProject+"="+s.project))
	list, err := s.api().ContainerList(context.Background(), container.ListOptions{All: true, Filters: own})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func (s *service) inspect(id string) container.InspectResponse {
	s.t.Helper()
	seen, err := s.api().ContainerInspect(context.Background(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return seen
}

// names are those of the containers in any of the states, or of all, sorted.
func (s *service) names(states ...string) []string {
	names := []string{}
	for _, c := range s.list() {
		if len(states) == 0 || slices.Contains(states, c.State) {
			names = append(names, strings.TrimPrefix(c.Names[0], "/"+s.project+"-"))
		}
	}
	slices.Sort(names)
	return names
}

func (s *service) remove(id string) {
	err := s.api().ContainerRemove(context.Background(), id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !strings.Contains(err.Error(), "already in progress") {
		s.t.Error(err)
	}
}

func (s *service) removeAll() {
	for _, c := range s.list() {
		s.remove(c.ID)
	}
}

// scale brings the count to n as "docker compose up --scale" does.
func (s *service) scale(n int32) {
	list := s.list()
	highest := 0
	for _, c := range list {
		number, _ := strconv.Atoi(c.Labels[labelNumber])
		highest = max(highest, number)
	}
	for i := len(list); i < int(n); i++ {
		highest++
		s.add(highest)
	}
	slices.SortFunc(list, func(a, b container.Summary) int {
		return strings.Compare(b.Labels[labelNumber], a.Labels[labelNumber])
	})
	for _, c := range list[:max(0, len(list)-int(n))] {
		s.remove(c.ID)
	}
}

// connect opens a connection to the real engine that runs through a proxy.
func (s *service) connect() (*connection, *targettest.Proxy) {
	s.t.Helper()
	socket := strings.TrimPrefix(s.engine.Host(), "unix://")
	proxy := targettest.NewProxy(s.t, func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	})
	return connect(s.t, "tcp://"+proxy.Address()), proxy
}

func (s *service) table() options.Table { return table("project", s.project, "service", "web") }

// target binds the service through a connection of its own.
func (s *service) target() *target {
	s.t.Helper()
	c, _ := s.connect()
	s.t.Cleanup(func() { _ = c.Close() })
	return bind(s.t, c, s.table())
}

func connect(t testing.TB, host string) *connection {
	t.Helper()
	opened, err := Driver().Open(environment(io.Discard), table("host", host))
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*connection)
}

func bind(t testing.TB, c *connection, binding options.Table) *target {
	t.Helper()
	bound, err := c.Bind(binding)
	if err != nil {
		t.Fatal(err)
	}
	return bound.(*target)
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

func (s *service) eventuallyNamed(want []string, states ...string) {
	s.t.Helper()
	eventually(s.t, func() error {
		if got := s.names(states...); !slices.Equal(got, want) {
			return fmt.Errorf("the containers in the states %v are %v, want %v", states, got, want)
		}
		return nil
	})
}

func mustStatus(t *testing.T, target targets.Target) targets.Status {
	t.Helper()
	status, err := target.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func mustSet(t *testing.T, target targets.Target, replicas int32) {
	t.Helper()
	if err := target.SetReplicas(t.Context(), mustStatus(t, target), replicas); err != nil {
		t.Fatal(err)
	}
}

func wantClass(t *testing.T, err error, want targets.Class) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one of class %v", want)
	} else if got := targets.ClassOf(err, true); got != want {
		t.Errorf("the class of %q is %v, want %v", err, got, want)
	}
}
