package cgroup

import (
	"bytes"
	"math"
	"time"

	"github.com/hpad/hpad/sources/internal/procfs"
)

// counterOf reads a file that holds one number.
func counterOf(text []byte) (uint64, bool) {
	return procfs.ParseUint(bytes.TrimRight(text, "\n"))
}

// fieldOf reads the number after a name at the beginning of a line.
func fieldOf(text []byte, name string) (uint64, bool) {
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if len(line) > len(name) && line[len(name)] == ' ' && string(line[:len(name)]) == name {
			return procfs.ParseUint(line[len(name)+1:])
		}
	}
	return 0, false
}

// CPUTime turns a count of units into a time; a counter that says 0 is not of a running container.
func CPUTime(count uint64, unit time.Duration) (time.Duration, bool) {
	if count == 0 || count > math.MaxInt64/uint64(unit) {
		return 0, false
	}
	return time.Duration(count) * unit, true
}

// WorkingSet is the memory that cannot be taken back without a cost: usage without the file pages
// that nobody looked at for long. Usage 0 is not of a running container.
func WorkingSet(usage, inactiveFile uint64) (uint64, bool) {
	if usage == 0 {
		return 0, false
	}
	return usage - min(usage, inactiveFile), true
}
