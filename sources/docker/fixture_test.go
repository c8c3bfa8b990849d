package docker

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := shared.Close(); err != nil {
		fmt.Println(err)
		code = max(code, 1)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

// id makes a full container id of one letter.
func id(letter string) string { return strings.Repeat(letter, idLength) }

// machine is a cgroup file system and a process file system made by hand.
type machine struct {
	t            testing.TB
	cgroup, proc string
}

func newMachine(t testing.TB) *machine {
	m := &machine{t: t, cgroup: t.TempDir(), proc: t.TempDir()}
	m.write(m.proc+"/uptime", "3600.00 0.00\n")
	m.write(m.proc+"/stat", "cpu  1\ncpu0 1\ncpu1 1\n")
	m.write(m.proc+"/self/mountinfo", "1 0 0:1 / / rw - ext4 /dev/vda rw\n")
	return m
}

// unified makes the machine one with cgroup v2.
func (m *machine) unified() *machine {
	m.write(m.cgroup+"/cgroup.controllers", "cpuset cpu io memory pids\n")
	return m
}

// legacy makes it one with cgroup v1, the CPU accounting mounted in a folder of that name.
func (m *machine) legacy(cpuacct string) *machine {
	m.write(m.cgroup+"/"+cpuacct+"/cpuacct.usage", "1\n")
	m.write(m.cgroup+"/memory/memory.usage_in_bytes", "1\n")
	m.write(m.cgroup+"/unified/cgroup.controllers", "\n")
	return m
}

func (m *machine) write(path, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// counters are those of a container; bytes of memory.
type counters struct {
	used            time.Duration
	usage, inactive int
}

// put2 writes the files of a v2 group, put1 those of v1 groups.
func (m *machine) put2(name string, c counters) {
	dir := m.cgroup + name
	m.write(dir+"/cpu.stat", fmt.Sprintf("usage_usec %d\nuser_usec 1\nsystem_usec 2\nnr_periods 0\n", c.used.Microseconds()))
	m.write(dir+"/memory.current", fmt.Sprintf("%d\n", c.usage))
	m.write(dir+"/memory.stat", fmt.Sprintf("anon 1\nfile 2\ninactive_anon 3\nactive_anon 4\ninactive_file %d\nactive_file 5\n", c.inactive))
}

func (m *machine) put1(cpuacct, name string, c counters) {
	m.write(m.cgroup+"/"+cpuacct+name+"/cpuacct.usage", fmt.Sprintf("%d\n", c.used.Nanoseconds()))
	m.write(m.cgroup+"/memory"+name+"/memory.usage_in_bytes", fmt.Sprintf("%d\n", c.usage))
	m.write(m.cgroup+"/memory"+name+"/memory.stat", fmt.Sprintf("cache 1\ninactive_file 7\ntotal_cache 2\ntotal_inactive_file %d\n", c.inactive))
}

// open opens the source on the machine.
func (m *machine) open(prefer, host string) *Source {
	set := defaults()
	set.Prefer, set.CgroupRoot, set.Host = prefer, m.cgroup, host
	s := open(slog.New(slog.DiscardHandler), set, newEngine(host, nil, set.Timeout.Std()), m.proc)
	m.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			m.t.Error(err)
		}
	})
	return s
}

// noEngine is an address where nobody listens.
const noEngine = "unix:///nonexistent/hpad.sock"

func instanceOf(id string) targets.Instance {
	return targets.Instance{
		Instance:    algorithm.Instance{ID: id, Containers: []algorithm.Container{{Name: "main"}}},
		ContainerID: id,
	}
}

func readOne(t testing.TB, s *Source, resource string, in targets.Instance, at time.Time) algorithm.Sample {
	t.Helper()
	samples, err := s.ReadResource(t.Context(), resource, "", []targets.Instance{in}, at)
	if err != nil {
		t.Fatal(err)
	}
	return samples[0]
}

// fakeEngine answers questions for stats with the text set for a container.
type fakeEngine struct {
	host, version string

	mu     sync.Mutex
	bodies map[string]string
	codes  map[string]int
	asked  map[string]int
	hold   chan struct{} // if set, answers wait until it is closed
	asking chan struct{} // closed when the first question came
	first  sync.Once
}

var statsPath = regexp.MustCompile(`^/v[0-9.]+/containers/([0-9a-f]+)/stats$`)

func newFakeEngine(t testing.TB, version string) *fakeEngine {
	e := &fakeEngine{version: version, bodies: map[string]string{}, codes: map[string]int{}, asked: map[string]int{}, asking: make(chan struct{})}
	// A socket's path has to be short, which a test's own directory may not be.
	dir, err := os.MkdirTemp("", "hpad")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listener, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(e)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	e.host = "unix://" + dir + "/s"
	return e
}

func (e *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("API-Version", e.version)
	w.Header().Set("Ostype", "linux")
	match := statsPath.FindStringSubmatch(r.URL.Path)
	if match == nil {
		return // the ping
	}
	e.mu.Lock()
	e.asked[match[1]]++
	body, code, hold := e.bodies[match[1]], e.codes[match[1]], e.hold
	e.mu.Unlock()
	e.first.Do(func() { close(e.asking) })
	if hold != nil {
		<-hold
	}
	switch {
	case r.FormValue("one-shot") != "1" || r.FormValue("stream") != "0":
		w.WriteHeader(http.StatusBadRequest)
	case code != 0:
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	case body == "":
		w.WriteHeader(http.StatusNotFound)
	default:
		_, _ = io.WriteString(w, body)
	}
}

func (e *fakeEngine) put(id string, c counters) {
	e.set(id, fmt.Sprintf(`{"read":%q,"preread":"0001-01-01T00:00:00Z",
"cpu_stats":{"cpu_usage":{"total_usage":%d,"percpu_usage":[1,2]},"system_cpu_usage":1,"online_cpus":4},
"precpu_stats":{"cpu_usage":{"total_usage":0}},
"memory_stats":{"usage":%d,"stats":{"inactive_file":7,"total_inactive_file":%d},"limit":1}}`,
		time.Now().Format(time.RFC3339Nano), c.used.Nanoseconds(), c.usage, c.inactive))
}

func (e *fakeEngine) set(id, body string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bodies[id] = body
}

func (e *fakeEngine) fail(id string, code int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.codes[id] = code
}

func (e *fakeEngine) count(id string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked[id]
}
