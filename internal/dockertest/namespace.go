package dockertest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is a process in the engine's network: it reaches the containers by their addresses, and
// nothing else does. Files and processes are those of the machine. The kernel kills it when the
// thread that started it ends, at the latest with the test.
func (e *Engine) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	args = append([]string{"--net=" + e.netns(), "--", name}, args...)
	cmd := exec.CommandContext(ctx, lookPath("nsenter"), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Run starts cmd, made by Command, and returns a function that kills it and waits for it. Unlike
// with cmd.Start the process cannot be killed too early by the end of a thread.
func (e *Engine) Run(cmd *exec.Cmd) (stop func(), err error) {
	p, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	return p.kill, nil
}

// Dial connects to an address (literal, not a name) as seen from the engine's network.
func (e *Engine) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := e.dialHere(ctx, network, address)
		done <- result{conn, err}
	}()
	r := <-done
	return r.conn, r.err
}

// dialHere moves its thread into the engine's network for good: the thread is never unlocked, so
// it ends with the goroutine. A socket stays in the network it was made in.
func (e *Engine) dialHere(ctx context.Context, network, address string) (net.Conn, error) {
	runtime.LockOSThread()
	ns, err := os.Open(e.netns())
	if err != nil {
		return nil, err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("cannot enter the network of the engine: %w", err)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// HTTPClient is a client whose requests are made in the engine's network.
func (e *Engine) HTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: e.Dial, DisableKeepAlives: true}}
}

func (e *Engine) netns() string { return fmt.Sprintf("/proc/%d/ns/net", e.process.pid) }
