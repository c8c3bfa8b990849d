package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

const supported = true

// attributes put the process at the head of its own process group, so that a signal reaches the
// whole tree and a terminal's Ctrl-C does not, and have the kernel kill it when the thread that
// started it dies, which is when hpad dies, be it by SIGKILL. The latter does not pass on to the
// process's own children, and the kernel forgets it if the program is setuid, setgid or has file
// capabilities; what remains then is ended by the service manager that runs hpad.
func attributes(user *account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if user != nil {
		attr.Credential = &syscall.Credential{Uid: user.uid, Gid: user.gid, Groups: user.groups}
	}
	return attr
}

// waitEnd returns when the child has ended, and leaves it unreaped: until it is reaped its number,
// and that of its group, cannot be given to another process.
func waitEnd(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// signalGroup signals a process group. A group that has no members any more is no error.
func signalGroup(group int, signal syscall.Signal) error {
	err := unix.Kill(-group, signal)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func signalNumber(name string) (syscall.Signal, bool) {
	signal := unix.SignalNum(name)
	return signal, signal != 0
}
