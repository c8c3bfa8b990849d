package process

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
)

var errStarterClosed = errors.New("the connection is closed")

// starter starts every process from one thread that lives as long as the connection. The kernel
// ties "kill me when my parent dies" to the thread that started the process, not to hpad as a
// whole, and Go ends and changes threads as it likes.
type starter struct {
	begin    sync.Once
	finish   sync.Once
	requests chan startRequest
	quit     chan struct{}
	ended    chan struct{}
}

type startRequest struct {
	cmd    *exec.Cmd
	result chan<- error
}

// newStarter returns a starter whose thread begins with the first process.
func newStarter() *starter {
	return &starter{requests: make(chan startRequest), quit: make(chan struct{}), ended: make(chan struct{})}
}

func (s *starter) start(cmd *exec.Cmd) error {
	s.begin.Do(func() { go s.serve() })
	result := make(chan error, 1)
	select {
	case s.requests <- startRequest{cmd, result}:
		return <-result
	case <-s.quit:
		return errStarterClosed
	}
}

func (s *starter) serve() {
	runtime.LockOSThread()
	defer close(s.ended)
	for {
		select {
		case request := <-s.requests:
			request.result <- request.cmd.Start()
		case <-s.quit:
			return
		}
	}
}

// close ends the thread, unless it is hpad's first one, which Go keeps.
func (s *starter) close() {
	s.finish.Do(func() { close(s.quit) })
	s.begin.Do(func() { close(s.ended) })
	<-s.ended
}
