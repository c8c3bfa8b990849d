package command

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

const supported = true

// attributes put the command at the head of a process group of its own, so that it can be killed
// with all it started, and have the kernel kill it if hpad is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitEnd returns when the child has ended, and leaves it unreaped.
func waitEnd(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killGroup ignores errors: that the group is gone is what is wanted.
func killGroup(group int) { _ = unix.Kill(-group, unix.SIGKILL) }
