package dockertest

import (
	"os/exec"
	"runtime"
)

// process is a child that the kernel kills when this process ends.
type process struct {
	pid  int
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait, set before done is closed
}

// startProcess starts cmd on a thread that lives as long as the child: Pdeathsig is sent when the
// thread that made the child ends, and Go ends threads as it likes.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// ended tells whether the process has ended without being asked to.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process. As it is process 1 of its namespace, everything in there is gone when
// kill returns.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
