// Package dockertest runs a disposable Docker engine for tests.
//
// The engine is a dockerd that is process 1 of network, mount and process namespaces of its own,
// with everything it writes below one directory. It cannot see, and cannot disturb, the engine of
// the machine; two engines do not see each other. (A second dockerd in the machine's network
// namespace would delete or rewrite the bridge and the firewall rules of the first.) Its socket is
// reachable by path from the test; what its containers listen on is reachable with Engine.Dial and
// Engine.Command only.
//
// It needs root, dockerd, containerd, runc, iptables, ip and nsenter. Where one of them is
// missing, Start skips the test, unless CI or HPAD_REQUIRE_ALL is set in the environment: then it
// fails it.
//
// No process, mount, control group or file outlives Close. If the test is killed, the kernel kills
// the engine; the files and empty control groups it leaves are removed by the next Launch.
package dockertest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"
)

// readyTimeout bounds the start of an engine; it takes about a second on an idle machine.
const readyTimeout = 90 * time.Second

// Engine is a running Docker engine.
type Engine struct {
	place   *place
	process *process
	client  *client.Client
	ready   bool // it answered once
	close   sync.Once
	closed  error
}

// Start runs an engine until the end of the test.
func Start(t testing.TB) *Engine {
	t.Helper()
	e, err := Launch()
	if err != nil {
		skipOrFail(t, err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Launch runs an engine until Close. The error is an *Unavailable if this machine cannot.
func Launch() (*Engine, error) {
	if err := available(); err != nil {
		return nil, err
	}
	removeLeftovers()
	place, err := newPlace()
	if err != nil {
		return nil, err
	}
	e := &Engine{place: place}
	if err := e.start(); err != nil {
		err = fmt.Errorf("cannot start a Docker engine: %w\n%s", err, place.logTail())
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) start() error {
	var err error
	if e.process, err = startProcess(e.place.command()); err != nil {
		return err
	}
	e.client, err = client.NewClientWithOpts(client.WithHost(e.Host()), client.WithAPIVersionNegotiation())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	for {
		if _, err = e.client.Ping(ctx); err == nil {
			e.ready = true
			return nil
		}
		select {
		case <-e.process.done:
			return fmt.Errorf("dockerd ended: %w", e.process.err)
		case <-ctx.Done():
			return fmt.Errorf("no answer in %v: %w", readyTimeout, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Host is the address of the engine's API, "unix:///…".
func (e *Engine) Host() string { return "unix://" + e.place.path("d.sock") }

// Client speaks to the engine's API with the version it negotiated. Close closes it.
func (e *Engine) Client() *client.Client { return e.client }

// PID is the engine's process as this machine sees it, for /proc/PID/ns.
func (e *Engine) PID() int { return e.process.pid }

// Dir is the directory of everything the engine writes.
func (e *Engine) Dir() string { return e.place.dir }

// CgroupParent is the control group, below the root of every hierarchy, that holds the groups of
// the engine's containers.
func (e *Engine) CgroupParent() string { return "/" + e.place.name() }

// Close kills the engine with all its containers and removes what it left. Further calls return
// what the first one did.
func (e *Engine) Close() error {
	e.close.Do(func() { e.closed = e.shutdown() })
	return e.closed
}

func (e *Engine) shutdown() error {
	if e.client != nil {
		_ = e.client.Close()
	}
	var died error
	if e.process != nil {
		if e.ready && e.process.ended() {
			died = fmt.Errorf("the Docker engine ended by itself: %v\n%s", e.process.err, e.place.logTail())
		}
		e.process.kill()
	}
	return errors.Join(died, e.place.remove())
}

// command is the engine's process. The shell runs inside the namespaces and becomes dockerd.
//
// /run is made empty so that dockerd does not find and use a containerd of the machine, and leaves
// no shim sockets there.
func (p *place) command() *exec.Cmd {
	const script = `set -e
mount --make-rslave /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
ip link set lo up
exec dockerd "$@" >>"$0" 2>&1`
	cmd := exec.Command("sh", "-c", script, p.path("log"),
		"--config-file", p.path("config.json"),
		"--data-root", p.path("data"),
		"--exec-root", p.path("exec"),
		"--pidfile", p.path("pid"),
		"--host", "unix://"+p.path("d.sock"),
		"--cgroup-parent", "/"+p.name(),
		"--exec-opt", "native.cgroupdriver=cgroupfs",
	)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + searchPath, "HOME=" + p.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	return cmd
}

func (p *place) name() string { return filepath.Base(p.dir) }
