package process

import (
	"syscall"
	"time"
	"unsafe"
)

// clock reads the CPU time of all threads of a process, to the nanosecond. (/proc/PID/schedstat
// has that of the first thread only.)
func clock(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED: counted by the scheduler, for the whole process
	id := ^int32(pid)<<3 | scheduled
	var t syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), errno == 0
}
