package cgroup

import (
	"errors"
	"io/fs"
	"syscall"
)

// ErrGone says that the control group a file was opened in does not exist any more. One with the
// same path may: that of the restarted container.
var ErrGone = errors.New("the control group is gone")

// maxKept bounds the files kept open, whatever the process may have: above it a container costs an
// open and a close per reading, still a few microseconds.
const maxKept = 12_288

// Budget counts the files that are kept open.
type Budget struct{ Kept, Limit int }

// NewBudget leaves half of the files this process may open to everything else. (The Go runtime has
// raised the soft limit to the hard one at the start.)
func NewBudget() *Budget {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return &Budget{Limit: 256}
	}
	return &Budget{Limit: int(min(limit.Cur/2, maxKept))}
}

// file is a counter of a control group. Read again and again, it is opened once. System calls are
// made directly: os.File would register each of these files with the poller.
type file struct {
	path string
	fd   int
	open bool
}

// read returns the text, in buffer. A text that does not fit is an error.
func (f *file) read(b *Budget, buffer []byte) ([]byte, error) {
	if !f.open {
		fd, err := openFile(f.path)
		if err != nil {
			return nil, err
		}
		f.fd, f.open = fd, true
		b.Kept++
	}
	n, err := readFile(f.fd, buffer)
	if err != nil || b.Kept > b.Limit {
		f.close(b)
	}
	switch {
	case errors.Is(err, syscall.ENODEV):
		return nil, ErrGone
	case err != nil:
		return nil, &fs.PathError{Op: "read", Path: f.path, Err: err}
	case n == len(buffer):
		return nil, &fs.PathError{Op: "read", Path: f.path, Err: syscall.EFBIG}
	}
	return buffer[:n], nil
}

func (f *file) close(b *Budget) {
	if f.open {
		_ = syscall.Close(f.fd) // read only: nothing can be lost
		f.open = false
		b.Kept--
	}
}

func openFile(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		switch err {
		case nil:
			return fd, nil
		case syscall.EINTR:
			continue
		case syscall.ENOENT, syscall.ENODEV:
			return 0, ErrGone
		}
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
}

func readFile(fd int, buffer []byte) (int, error) {
	for {
		n, err := syscall.Pread(fd, buffer, 0)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
