package process

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// run is one run of an instance: a process and its group.
type run struct {
	pid     int
	started time.Time
	process *os.Process
	output  outlet
	// done is closed when the process has ended; state is set before. Its output may go on.
	done  chan struct{}
	state *os.ProcessState

	mu     sync.Mutex
	reaped bool
}

// begin starts cmd with its output going to out.
func begin(s *starter, cmd *exec.Cmd, out outlet) (*run, error) {
	out.attach(cmd)
	started := time.Now()
	err := s.start(cmd)
	out.begin()
	if err != nil {
		out.end()
		return nil, err
	}
	r := &run{pid: cmd.Process.Pid, started: started, process: cmd.Process, output: out, done: make(chan struct{})}
	go r.wait()
	return r, nil
}

// wait kills what the process leaves behind in its group, so that the next one finds the port and
// the files free.
func (r *run) wait() {
	defer close(r.done)
	waitEnd(r.pid)
	r.mu.Lock()
	r.kill(syscall.SIGKILL)
	// The only possible error is that somebody else has waited for the process.
	r.state, _ = r.process.Wait()
	r.reaped = true
	r.mu.Unlock()
}

// signal sends a signal to the whole group, unless the process has ended.
func (r *run) signal(signal syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reaped {
		r.kill(signal)
	}
}

// kill ignores errors: what may be started may be signalled. A program that took another user's
// rights is the exception; after the grace Close tells of it.
func (r *run) kill(signal syscall.Signal) { _ = signalGroup(r.pid, signal) }

// stop asks the group to end, kills it after the grace, and returns when it has ended.
func (r *run) stop(signal syscall.Signal, grace time.Duration) {
	r.signal(signal)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-r.done:
		return
	case <-timer.C:
	}
	r.signal(syscall.SIGKILL)
	<-r.done
}

// ending says how the process ended, once done is closed.
func (r *run) ending() string {
	if r.state == nil {
		return "ended"
	}
	if status, ok := r.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Sprintf("was ended by signal %d (%s)", int(status.Signal()), status.Signal())
	}
	return fmt.Sprintf("exited with status %d", r.state.ExitCode())
}
