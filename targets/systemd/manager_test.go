package systemd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/internal/systemdtest"
	"github.com/hpad/hpad/targets"
)

// real is one manager for all tests that need one.
var real systemdtest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	if err := real.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// service is a template on the real manager, seen past the driver. Its instances say when they are
// ready; a reload lasts as long as its hold file is there.
type service struct {
	t       *testing.T
	manager *systemdtest.Manager
	name    string // without "@.service"
	text    string
}

const notifying = `[Service]
Type=notify
NotifyAccess=all
Environment=PASSWORD=hunter2
ExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep 1000'
ExecReload=/bin/sh -c 'while [ -e HOLD ]; do sleep 0.05; done'
CPUQuota=50%
MemoryMax=100M
`

func newService(t *testing.T, text string) *service {
	t.Helper()
	s := &service{t: t, manager: real.Manager(t)}
	name := strings.NewReplacer("/", "-").Replace(t.Name())
	s.name = strings.ToLower(name[max(0, len(name)-50):])
	s.text = strings.ReplaceAll(text, "HOLD", s.hold())
	s.create()
	t.Cleanup(s.remove)
	return s
}

func (s *service) hold() string { return filepath.Join(s.manager.Dir(), s.name+".hold") }

func (s *service) template() string { return s.name + "@.service" }

func (s *service) unit(index int) string { return fmt.Sprintf("%s@%d.service", s.name, index) }

func (s *service) create() { s.manager.Write(s.t, s.template(), s.text) }

func (s *service) remove() {
	_ = os.Remove(s.hold())
	s.manager.Systemctl(s.t, "stop", s.name+"@*.service")
	s.manager.Systemctl(s.t, "reset-failed")
	s.manager.Write(s.t, s.template(), "")
}

// do runs a verb on instances as an operator would, without waiting.
func (s *service) do(verb string, indexes ...int) {
	s.t.Helper()
	if len(indexes) == 0 {
		return
	}
	args := []string{"--no-block", verb}
	for _, i := range indexes {
		args = append(args, s.unit(i))
	}
	s.manager.Systemctl(s.t, args...)
}

// running are the numbers of the units that are to run, as systemctl tells.
func (s *service) running() []int {
	s.t.Helper()
	jobs := map[string]string{}
	for line := range strings.Lines(s.manager.Systemctl(s.t, "list-jobs", "--no-legend", "--plain")) {
		if fields := strings.Fields(line); len(fields) >= 3 {
			jobs[fields[1]] = fields[2]
		}
	}
	found := map[int]bool{}
	add := func(name string) {
		if index, ok := indexOf(s.template(), name); ok {
			found[int(index)] = true
		}
	}
	for line := range strings.Lines(s.manager.Systemctl(s.t, "list-units", "--all", "--no-legend", "--plain", s.name+"@*.service")) {
		fields := strings.Fields(line)
		if len(fields) >= 4 && fields[2] != "inactive" && jobs[fields[0]] != "stop" {
			add(fields[0])
		}
	}
	for name, kind := range jobs {
		if kind == "start" {
			add(name)
		}
	}
	var indexes []int
	for i := range found {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	return indexes
}

// change starts or stops units as somebody else would.
func (s *service) change(replicas int32) {
	s.t.Helper()
	now := s.running()
	for len(now) > int(replicas) {
		s.do("stop", now[len(now)-1])
		now = now[:len(now)-1]
	}
	for i := 1; len(now) < int(replicas); i++ {
		if !slices.Contains(now, i) {
			s.do("start", i)
			now = append(now, i)
		}
	}
}

// connect opens a connection to the real manager through a proxy.
func (s *service) connect() (targets.Connection, *proxy) {
	s.t.Helper()
	p := newProxy(s.t, strings.TrimPrefix(s.manager.Bus(), "unix:path="))
	return connect(s.t, table("address", "unix:path="+p.path)), p
}

// target binds a target for the template.
func (s *service) target(pairs ...any) targets.Target {
	s.t.Helper()
	connection, _ := s.connect()
	return s.bind(connection, pairs...)
}

func (s *service) bind(connection targets.Connection, pairs ...any) targets.Target {
	s.t.Helper()
	s.t.Cleanup(func() { _ = connection.Close() })
	bound, err := connection.Bind(table(append([]any{"unit", s.template()}, pairs...)...))
	if err != nil {
		s.t.Fatal(err)
	}
	return bound
}

func connect(t testing.TB, of options.Table) targets.Connection {
	t.Helper()
	connection, err := Driver().Open(targets.Environment{Log: slog.New(slog.DiscardHandler)}, of)
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

func table(pairs ...any) options.Table {
	values := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i].(string)] = pairs[i+1]
	}
	return options.NewTable("/etc/hpad", values)
}

// proxy stands between the driver and the bus. It counts the requests for a change, and can keep
// answers back.
type proxy struct {
	path, bus string

	mu     sync.Mutex
	writes int
	held   chan struct{} // nil: answers pass
	// holdAt makes it keep answers back once that method was called.
	holdAt string
	conns  []net.Conn
	all    sync.WaitGroup
}

func newProxy(t *testing.T, bus string) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "hpad-proxy-") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{path: filepath.Join(dir, "bus"), bus: bus}
	listener, err := net.Listen("unix", p.path)
	if err != nil {
		t.Fatal(err)
	}
	p.all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.release()
		p.cut()
		p.all.Wait()
		_ = os.RemoveAll(dir)
	})
	return p
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("unix", p.bus)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	end := func() {
		_ = client.Close()
		_ = server.Close()
	}
	p.all.Go(func() {
		defer end()
		p.answers(client, server)
	})
	defer end()
	_, _ = io.Copy(server, io.TeeReader(client, &counter{proxy: p}))
}

func (p *proxy) answers(client io.Writer, server io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		held := p.held
		p.mu.Unlock()
		if held != nil {
			<-held
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}

func (p *proxy) hang() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold()
	return p.release
}

func (p *proxy) hold() {
	if p.held == nil {
		p.held = make(chan struct{})
	}
}

func (p *proxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		close(p.held)
		p.held = nil
	}
	p.holdAt = ""
}

func (p *proxy) written() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// counter finds the names of methods in what a client sends.
type counter struct {
	proxy *proxy
	rest  []byte
}

func (c *counter) Write(text []byte) (int, error) {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	c.rest = append(c.rest, text...)
	for {
		end := bytes.IndexByte(c.rest, 0)
		if end < 0 {
			return len(text), nil
		}
		word := c.rest[:end]
		for _, method := range []string{"StartUnit", "StopUnit", "ResetFailedUnit"} {
			if bytes.HasSuffix(word, []byte(method)) {
				c.proxy.writes++
				if c.proxy.holdAt == method {
					c.proxy.hold()
				}
			}
		}
		c.rest = c.rest[end+1:]
	}
}

// eventually polls until check returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
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

func wantClass(t *testing.T, err error, want targets.Class) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one of class %v", want)
	} else if got := targets.ClassOf(err, true); got != want {
		t.Errorf("the class of %q is %v, want %v", err, got, want)
	}
}
