package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/hpad/hpad/internal/options"
)

// Call is what one run is given.
type Call struct {
	// Arguments replace those of the options; nil leaves them.
	Arguments []string
	// Input is the standard input.
	Input []byte
	// Env are further variables. Their names begin with HPAD_.
	Env map[string]string
}

// Answer is what one run gave.
type Answer struct {
	// Code is the exit code.
	Code int
	// Output is the standard output, Remark the last line of the standard error.
	Output []byte
	Remark string
}

// Why a run gave no Answer. The error of Run wraps one of them, or that of an ended context, with
// words for an operator.
var (
	// ErrNotStarted: nothing has run.
	ErrNotStarted = errors.New("cannot be started")
	// ErrKilled: a signal that hpad has not sent ended the command.
	ErrKilled = errors.New("was ended by a signal")
	// ErrTooLarge: the output is larger than max_output_bytes. The command was killed.
	ErrTooLarge = errors.New("wrote too much")
)

// outputGrace is how long output may go on after the end of the command: what it left in the
// background may still hold the pipe.
const outputGrace = 500 * time.Millisecond

// Run runs the command and waits for its end. When ctx ends or the time is up, the command and its
// process group are killed. What a command that ended by itself left in the background stays.
func (c *Command) Run(ctx context.Context, call Call) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout.Std())
	defer cancel()
	if err := ctx.Err(); err != nil {
		return Answer{}, fmt.Errorf("command %s %w: %w", c, ErrNotStarted, err)
	}
	// The kernel kills the command when the thread that started it ends, which must not be before
	// hpad's own end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	overflow := make(chan struct{})
	stdout := &limited{most: c.opts.MaxOutputBytes, overflow: overflow}
	stderr := &tail{}
	arguments := c.opts.Command[1:]
	if call.Arguments != nil {
		arguments = call.Arguments
	}
	cmd := &exec.Cmd{
		Path:        c.program,
		Args:        slices.Concat([]string{c.program}, arguments),
		Dir:         string(c.opts.WorkingDirectory),
		Env:         c.environment(call.Env),
		Stdin:       bytes.NewReader(call.Input),
		Stdout:      stdout,
		Stderr:      stderr,
		SysProcAttr: attributes(),
		WaitDelay:   outputGrace,
	}
	if err := cmd.Start(); err != nil {
		return Answer{}, fmt.Errorf("command %s %w: %w", c, ErrNotStarted, cause(err))
	}
	c.supervise(ctx, cmd, overflow)
	answer := Answer{Code: cmd.ProcessState.ExitCode(), Output: stdout.buffer.Bytes(), Remark: stderr.lastLine()}
	return c.judge(ctx, answer, stdout.full, cmd.ProcessState.String())
}

// supervise returns when the command has ended, by itself or killed, and been reaped.
func (c *Command) supervise(ctx context.Context, cmd *exec.Cmd, overflow <-chan struct{}) {
	ended, killed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(killed)
		select {
		case <-ctx.Done():
		case <-overflow:
		case <-ended:
			return
		}
		killGroup(cmd.Process.Pid)
	}()
	// Not reaped before nobody kills any more: the number could be another process's by then.
	waitEnd(cmd.Process.Pid)
	close(ended)
	<-killed
	// How it ended is in ProcessState; that its output was cut off is no failure of a command that
	// left something in the background.
	_ = cmd.Wait()
}

func (c *Command) judge(ctx context.Context, answer Answer, full bool, state string) (Answer, error) {
	said := ""
	if answer.Remark != "" {
		said = ": " + answer.Remark
	}
	switch {
	case full:
		return Answer{}, fmt.Errorf("command %s %w: its output is larger than max_output_bytes = %d", c, ErrTooLarge, c.opts.MaxOutputBytes)
	case answer.Code >= 0:
		return answer, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Answer{}, fmt.Errorf("command %s did not end in time (timeout is %v) and was killed%s: %w", c, options.Duration(c.opts.Timeout), said, ctx.Err())
	case ctx.Err() != nil:
		return Answer{}, fmt.Errorf("command %s was killed: %w", c, ctx.Err())
	}
	return Answer{}, fmt.Errorf("command %s %w (%s)%s", c, ErrKilled, state, said)
}

// cause leaves out the path, which is said already.
func cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}
