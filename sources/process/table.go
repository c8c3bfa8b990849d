package process

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hpad/hpad/sources/internal/procfs"
)

// ownProc is the process file system whose numbers mean the same to system calls.
const ownProc = "/proc"

// maxBytes is the most memory a sample can hold.
const maxBytes = math.MaxInt64 / 1000

// table is one pass over all processes.
type table struct {
	at, taken time.Time
	uptime    time.Duration
	processes map[int]procfs.Stat
	// precise tells that the processes' own clocks can be read.
	precise bool
	// below has the children of each process, and what else belongs to it: its session's and its
	// group's members.
	below map[int][]int
}

// readTable reads the stat file of every process. Those that end meanwhile are left out; whatever
// else keeps one from being read would look like its end, and is an error.
func readTable(proc string, at time.Time) (*table, error) {
	uptime, err := procfs.Uptime(proc)
	if err != nil {
		return nil, err
	}
	t := &table{
		at: at, taken: time.Now(), uptime: uptime, precise: proc == ownProc,
		processes: map[int]procfs.Stat{}, below: map[int][]int{},
	}
	names, err := list(proc)
	if err != nil {
		return nil, err
	}
	buffer := make([]byte, 4096)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := readSmall(proc+"/"+name+"/stat", buffer)
		if ended(err) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: proc + "/" + name + "/stat", Err: err}
		}
		if stat, err := procfs.ParseStat(text); err == nil {
			t.add(pid, stat)
		}
	}
	return t, nil
}

// ended tells of an error of reading a file of a process whether it is that there is none any more.
func ended(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH)
}

func list(proc string) ([]string, error) {
	dir, err := os.Open(proc)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (t *table) add(pid int, stat procfs.Stat) {
	t.processes[pid] = stat
	for _, above := range [...]int{stat.Parent, stat.Group, stat.Session} {
		if above > 0 && above != pid {
			t.below[above] = append(t.below[above], pid)
		}
	}
}

// members are the processes of an instance, its main process first.
func (t *table) members(pid int) []int {
	all := []int{pid}
	found := map[int]bool{pid: true}
	for i := 0; i < len(all); i++ {
		for _, below := range t.below[all[i]] {
			if !found[below] {
				found[below] = true
				all = append(all, below)
			}
		}
	}
	return all
}

// readSmall reads a file at once, directly: os.File would register it with the poller.
func readSmall(path string, buffer []byte) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(fd) }() // read only: nothing can be lost
	n, err := syscall.Read(fd, buffer)
	if err != nil {
		return nil, err
	}
	if n == len(buffer) {
		return nil, io.ErrShortBuffer
	}
	return buffer[:n], nil
}

// readResident reads how much of a process is in memory, in bytes.
func readResident(proc string, pid int) (uint64, error) {
	text, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, err
	}
	pages, err := parseResident(text)
	return pages * uint64(os.Getpagesize()), err
}

// parseResident reads the pages in memory from the text of /proc/PID/statm: the second number.
func parseResident(text []byte) (uint64, error) {
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, errors.New("process statm ends early")
	}
	pages, ok := procfs.ParseUint(fields[1])
	if !ok || pages > maxBytes/uint64(os.Getpagesize()) {
		return 0, errors.New("process statm has an impossible size")
	}
	return pages, nil
}
