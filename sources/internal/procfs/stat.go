// Package procfs reads the files of /proc that tell which process an instance is, what it has used
// and which cgroup it is in. The parsers take the text of a file, whatever is in it: a process
// chooses its own name, and a file may end anywhere.
package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Tick is the unit of CPU times and start times in /proc/PID/stat: USER_HZ is 100 on every
// architecture that Go supports on Linux, whatever the kernel's own tick is.
const Tick = 10 * time.Millisecond

// maxTicks is the largest count of ticks that fits a time.Duration: 292 years.
const maxTicks = uint64(1<<63-1) / uint64(Tick)

// Stat is what /proc/PID/stat says of a process.
type Stat struct {
	// State is a letter: 'R' running, 'S' sleeping, 'Z' zombie, 'X' dead, …
	State byte
	// Parent, Group and Session are process ids.
	Parent, Group, Session int
	// Self is the CPU time of all threads of the process, those that ended included; Children that
	// of its children that ended and were waited for, and of theirs. Both in steps of a Tick.
	Self, Children time.Duration
	// Start is the time from the boot of the machine to the start of the process.
	Start time.Duration
}

// Gone tells whether the process has ended and merely waits to be collected.
func (s *Stat) Gone() bool { return s.State == 'Z' || s.State == 'X' || s.State == 'x' }

// Positions of fields after the name, which ends at the last parenthesis; proc(5) counts from 1 and
// has the state third.
const (
	fieldState = iota
	fieldParent
	fieldGroup
	fieldSession
	fieldUser          = 14 - 3
	fieldSystem        = 15 - 3
	fieldChildrenUser  = 16 - 3
	fieldChildrenSytem = 17 - 3
	fieldStart         = 22 - 3
	fieldCount         = fieldStart + 1
)

// ParseStat reads the text of /proc/PID/stat.
func ParseStat(text []byte) (Stat, error) {
	var fields [fieldCount][]byte
	if !split(text, &fields) {
		return Stat{}, errors.New("process stat ends early")
	}
	r := numbers{fields: &fields}
	s := Stat{
		State:    fields[fieldState][0],
		Parent:   r.id(fieldParent),
		Group:    r.id(fieldGroup),
		Session:  r.id(fieldSession),
		Self:     r.ticks(fieldUser) + r.ticks(fieldSystem),
		Children: r.ticks(fieldChildrenUser) + r.ticks(fieldChildrenSytem),
		Start:    r.ticks(fieldStart),
	}
	if s.Self < 0 || s.Children < 0 {
		return Stat{}, errors.New("process stat has an impossible CPU time")
	}
	return s, r.err
}

// split finds the fields after the name. The name may itself hold parentheses, spaces and lines.
func split(text []byte, fields *[fieldCount][]byte) bool {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return false
	}
	rest := text[end+1:]
	for i := range fields {
		rest = bytes.TrimLeft(rest, " \n")
		width := bytes.IndexAny(rest, " \n")
		if width < 0 {
			width = len(rest)
		}
		if width == 0 {
			return false
		}
		fields[i], rest = rest[:width], rest[width:]
	}
	return true
}

// numbers reads fields and remembers the first one that is no number.
type numbers struct {
	fields *[fieldCount][]byte
	err    error
}

func (r *numbers) id(field int) int {
	// A process outside our PID namespace has 0 here, a kernel thread's session may be -1.
	n, err := strconv.Atoi(string(r.fields[field]))
	r.note(field, err)
	return n
}

func (r *numbers) ticks(field int) time.Duration {
	n, ok := ParseUint(r.fields[field])
	if !ok || n > maxTicks {
		r.note(field, strconv.ErrSyntax)
		return 0
	}
	return time.Duration(n) * Tick
}

func (r *numbers) note(field int, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("process stat has %q in place of field %d", r.fields[field], field+3)
	}
}

// ParseUint reads a whole text as a decimal number below 2⁶⁴, without allocating.
func ParseUint(text []byte) (uint64, bool) {
	if len(text) == 0 || len(text) > 20 {
		return 0, false
	}
	var n uint64
	for _, c := range text {
		digit := uint64(c - '0')
		if digit > 9 || n > (1<<64-1-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, true
}

// ReadStat reads the stat file of a process below a proc file system.
func ReadStat(proc string, pid int) (Stat, error) {
	text, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(text)
}
