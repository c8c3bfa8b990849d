package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// sandbox is a folder that stands for the whole machine: commands run in it as they are written in
// a document, but for paths of the system, which are below it, and addresses, which are free ones.
type sandbox struct {
	*testing.T
	dir      string
	config   string   // what /etc/hpad/hpad.toml stands for
	rewrites []string // old, new, old, new, …
	env      []string
	running  []*process
}

// prelude makes "hpad" find the sandbox's main file where it would read /etc/hpad/hpad.toml, and end
// if the shell is killed.
const prelude = `hpad() { setpriv --pdeathsig INT hpad --config "$HPAD_CONFIG" "$@"; }; `

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	dir := t.TempDir()
	s := &sandbox{T: t, dir: dir, config: filepath.Join(dir, "etc/hpad/hpad.toml")}
	for _, path := range []string{"/etc/hpad", "/var/lib/hpad", "/run/hpad", "/usr/"} {
		s.rewrites = append(s.rewrites, path, dir+path)
	}
	s.rewrites = append(s.rewrites, "127.0.0.1:9872", freePorts(t, 1))
	program, err := exec.LookPath("hpad")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"bin", "etc", "run", "usr/bin", "usr/lib/sysusers.d", "usr/lib/systemd/system"} {
		s.must(os.MkdirAll(filepath.Join(dir, folder), 0o755))
	}
	s.must(os.Symlink(program, filepath.Join(dir, "bin/hpad")))
	t.Cleanup(s.stopAll)
	return s
}

func (s *sandbox) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// freePorts is an address of this machine with so many ports from it on that nobody listens at.
func freePorts(t *testing.T, n int) string {
	t.Helper()
	for range 100 {
		first, err := freeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if address, _ := net.ResolveTCPAddr("tcp", first); allFree(address.Port, n) {
			return first
		}
	}
	t.Fatalf("found no %d free ports in a row", n)
	return ""
}

func allFree(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

func (s *sandbox) rewrite(text string) string {
	return strings.NewReplacer(s.rewrites...).Replace(text)
}

// write puts a file into the sandbox, rewritten.
func (s *sandbox) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	s.must(os.WriteFile(path, []byte(s.rewrite(text)), 0o644))
}

// install puts a program into the sandbox.
func (s *sandbox) install(name, text string) {
	s.Helper()
	s.write(name, text)
	s.must(os.Chmod(filepath.Join(s.dir, name), 0o755))
}

// take copies a file of the tree into the sandbox, rewritten.
func (s *sandbox) take(name string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(top, name))
	s.must(err)
	s.write(name, string(text))
}

func (s *sandbox) shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", prelude+s.rewrite(line))
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.dir+"/usr/bin:"+os.Getenv("PATH"), "HOME="+s.dir,
		"HPAD_CONFIG="+s.config, "HPAD_ADDRESS=", "RUNTIME_DIRECTORY="+s.dir+"/run/hpad", "GORACE="+raceOptions, "MAKEFLAGS=", "MAKELEVEL=")
	cmd.Env = append(cmd.Env, s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// try runs a command line to its end.
func (s *sandbox) try(line string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := s.shell(ctx, line).CombinedOutput()
	return string(out), err
}

// run runs a command line that must succeed.
func (s *sandbox) run(line string) string {
	s.Helper()
	out, err := s.try(line)
	if err != nil {
		s.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

// within waits until done says so.
func (s *sandbox) within(limit time.Duration, what func() string, done func() bool) {
	s.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		if time.Now().After(deadline) {
			s.Fatalf("waited %v in vain for %s", limit, what())
		}
		<-tick.C
	}
}

// process is a command line that goes on until it is interrupted.
type process struct {
	line string
	cmd  *exec.Cmd
	out  output
	done chan struct{}
	err  error
}

// output may be read while a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (s *sandbox) start(line string) *process {
	s.Helper()
	p := &process{line: line, cmd: s.shell(context.Background(), line), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		// The kernel kills the child when the thread that made it ends.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	s.must(<-started)
	s.running = append(s.running, p)
	return p
}

// startDaemon starts hpad and waits until it is ready.
func (s *sandbox) startDaemon(line string) *process {
	s.Helper()
	p := s.start(line)
	s.says(p, "msg=ready")
	return p
}

// says waits until the process has printed a text.
func (s *sandbox) says(p *process, text string) {
	s.Helper()
	what := func() string { return fmt.Sprintf("%q of %q\n%s", text, p.line, p.out.String()) }
	s.within(patience, what, func() bool {
		select {
		case <-p.done:
			s.Fatalf("%s ended: %v\n%s", p.line, p.err, p.out.String())
		default:
		}
		return strings.Contains(p.out.String(), text)
	})
}

// interrupt is Ctrl-C: it reaches all processes of the command line, which must end well.
func (s *sandbox) interrupt(p *process) {
	s.Helper()
	s.must(syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT))
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Cancel()
		s.Fatalf("%s does not end\n%s", p.line, p.out.String())
	}
}

// stopAll leaves nothing behind, whatever became of the test.
func (s *sandbox) stopAll() {
	for _, p := range s.running {
		select {
		case <-p.done:
			continue
		default:
		}
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT)
		select {
		case <-p.done:
		case <-time.After(patience):
			_ = p.cmd.Cancel()
			<-p.done
		}
		if s.Failed() {
			s.Logf("%s printed:\n%s", p.line, p.out.String())
		}
	}
	if left := s.processes(); len(left) > 0 {
		s.Errorf("processes are left: %q", left)
	}
}

// processes are the command lines of the processes whose working folder is the sandbox.
func (s *sandbox) processes() []string {
	folders, err := filepath.Glob("/proc/[0-9]*/cwd")
	s.must(err)
	var all []string
	for _, folder := range folders {
		if at, _ := os.Readlink(folder); at == s.dir {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(folder), "cmdline"))
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}
