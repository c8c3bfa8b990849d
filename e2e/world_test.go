package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/daemon/api"
	"github.com/hpad/hpad/internal/dockertest"
)

const (
	image      = "service"
	prometheus = "127.0.0.1:9090"
)

// world is an engine with a swarm, a broker whose queue Prometheus knows, Prometheus, and hpad.
type world struct {
	*testing.T
	engine *dockertest.Engine
	dir    string
	broker string // address of the container that shows the queue

	stopPrometheus func()
	hpad           *exec.Cmd
	hpadDone       chan struct{}
	hpadErr        error // of Wait, set before hpadDone is closed
	log            *output
}

func newWorld(t *testing.T) *world {
	if _, err := exec.LookPath("prometheus"); err != nil {
		dockertest.Lacking(t, "prometheus is not installed")
	}
	w := &world{T: t, engine: dockertest.Start(t), dir: t.TempDir(), log: &output{}}
	w.engine.ImportSelf(t, image)
	w.engine.SwarmInit(t)
	w.broker = w.runBroker()
	w.startPrometheus()
	t.Cleanup(func() { w.stopPrometheus() })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of hpad:\n%s", w.log)
		}
	})
	return w
}

func (w *world) runBroker() string {
	w.Helper()
	config := container.Config{Image: image, Env: []string{serviceVariable + "=1"}, Labels: map[string]string{"job": "broker"}}
	made, err := w.engine.Client().ContainerCreate(w.Context(), &config, nil, nil, nil, "broker")
	if err == nil {
		err = w.engine.Client().ContainerStart(w.Context(), made.ID, container.StartOptions{})
	}
	if err != nil {
		w.Fatal(err)
	}
	inspect, err := w.engine.Client().ContainerInspect(w.Context(), made.ID)
	if err != nil {
		w.Fatal(err)
	}
	return inspect.NetworkSettings.DefaultNetworkSettings.IPAddress + ":80"
}

// startPrometheus runs a real Prometheus that finds every container by the engine's API.
func (w *world) startPrometheus() {
	w.Helper()
	config := fmt.Sprintf(`
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: containers
    docker_sd_configs: [{ host: %q, refresh_interval: 1s, port: 80 }]
    relabel_configs:
      - { source_labels: [__meta_docker_container_id], target_label: instance }
      - { source_labels: [__meta_docker_container_label_job], target_label: broker }
      - { source_labels: [__meta_docker_container_label_com_docker_swarm_service_name], target_label: service }
`, w.engine.Host())
	path := w.write("prometheus.yml", config)
	cmd := w.engine.Command(context.Background(), "prometheus", "--config.file="+path,
		"--storage.tsdb.path="+filepath.Join(w.dir, "prometheus"), "--web.listen-address="+prometheus)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	stop, err := w.engine.Run(cmd)
	if err != nil {
		w.Fatal(err)
	}
	w.stopPrometheus = sync.OnceFunc(stop)
}

// startHpad runs the binary in the engine's network, so that it reaches Prometheus.
func (w *world) startHpad(binary string) {
	w.Helper()
	w.hpad = w.engine.Command(context.Background(), binary, "run", "--config", filepath.Join(w.dir, "hpad.toml"))
	w.hpad.Stdout, w.hpad.Stderr = w.log, w.log
	w.hpadDone = make(chan struct{})
	started := make(chan error)
	go func() {
		// The kernel kills hpad when the thread that started it ends.
		runtime.LockOSThread()
		err := w.hpad.Start()
		started <- err
		if err == nil {
			w.hpadErr = w.hpad.Wait()
		}
		close(w.hpadDone)
	}()
	if err := <-started; err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = w.hpad.Process.Kill()
		<-w.hpadDone
	})
}

// signal reaches hpad itself: nsenter becomes the program it starts.
func (w *world) signal(s syscall.Signal) {
	w.Helper()
	if err := w.hpad.Process.Signal(s); err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(name, content string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		w.Fatal(err)
	}
	return path
}

// create makes a replicated service that reserves 0.2 cores per task.
func (w *world) create(name string, replicas uint64) {
	w.Helper()
	spec := swarm.ServiceSpec{Annotations: swarm.Annotations{Name: name}}
	spec.TaskTemplate.ContainerSpec = &swarm.ContainerSpec{Image: image, Env: []string{serviceVariable + "=1"}}
	spec.TaskTemplate.Resources = &swarm.ResourceRequirements{Reservations: &swarm.Resources{NanoCPUs: 2e8}}
	spec.Mode.Replicated = &swarm.ReplicatedService{Replicas: &replicas}
	spec.UpdateConfig = &swarm.UpdateConfig{Parallelism: 1, Delay: 2 * time.Second, Monitor: time.Second}
	if _, err := w.engine.Client().ServiceCreate(w.Context(), spec, swarm.ServiceCreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) service(name string) swarm.Service {
	w.Helper()
	service, _, err := w.engine.Client().ServiceInspectWithRaw(w.Context(), name, swarm.ServiceInspectOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return service
}

func (w *world) replicas(name string) uint64 { return *w.service(name).Spec.Mode.Replicated.Replicas }

// containers are the addresses of the running containers of a service.
func (w *world) containers(name string) []string {
	w.Helper()
	all, err := w.engine.Client().ContainerList(w.Context(), container.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	var addresses []string
	for _, c := range all {
		if c.Labels["com.docker.swarm.service.name"] == name && c.NetworkSettings != nil {
			for _, network := range c.NetworkSettings.Networks {
				addresses = append(addresses, network.IPAddress+":80")
			}
		}
	}
	return addresses
}

func (w *world) post(address, path string) {
	w.Helper()
	answer, err := w.engine.HTTPClient().Post("http://"+address+path, "", nil)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		w.Fatalf("POST %s: %s", path, answer.Status)
	}
}

// ask reads from hpad's socket.
func (w *world) ask(path string) (string, error) {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", filepath.Join(w.dir, "hpad.sock"))
		},
	}}
	answer, err := client.Get("http://hpad" + path)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, answer.Status, body)
	}
	return string(body), err
}

func (w *world) workload(name string) api.Workload {
	var workload api.Workload
	if body, err := w.ask("/api/v1/workloads/" + name); err == nil {
		_ = json.Unmarshal([]byte(body), &workload)
	}
	return workload
}

func (w *world) condition(name, kind string) api.Condition {
	for _, c := range w.workload(name).Conditions {
		if c.Type == kind {
			return c
		}
	}
	return api.Condition{}
}

// series returns the value of one series of hpad's own metrics, as text.
func (w *world) series(start string) string {
	body, _ := w.ask("/metrics")
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, start); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// within waits for what must become true, by asking for it ten times a second.
func (w *world) within(limit time.Duration, what string, true func() bool) {
	w.Helper()
	begin := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !true() {
		if time.Since(begin) > limit {
			w.Fatalf("not within %v: %s", limit, what)
		}
		<-tick.C
	}
	w.Logf("%s: after %v", what, time.Since(begin).Round(100*time.Millisecond))
}

// always watches what must stay true for that long.
func (w *world) always(span time.Duration, what string, true func() bool) {
	w.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); time.Since(begin) < span; <-tick.C {
		if !true() {
			w.Fatalf("not for %v: %s", span, what)
		}
	}
}

// output collects what a process prints.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}
