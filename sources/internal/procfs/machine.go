package procfs

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strconv"
	"time"
)

// Uptime is the time since the machine booted, on the clock that Stat.Start is on.
func Uptime(proc string) (time.Duration, error) {
	text, err := os.ReadFile(proc + "/uptime")
	if err != nil {
		return 0, err
	}
	return ParseUptime(text)
}

// ParseUptime reads the text of /proc/uptime: seconds with two decimals, then the idle time.
func ParseUptime(text []byte) (time.Duration, error) {
	first, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte(" "))
	seconds, err := strconv.ParseFloat(string(first), 64)
	if err != nil || !(seconds >= 0 && seconds < math.MaxInt64/float64(time.Second)) {
		return 0, errors.New("uptime is not a number of seconds")
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// CPUs is the number of processors of the machine that are on line, whatever part of them this
// process may use; 0 if it cannot be told.
func CPUs(proc string) int {
	text, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return 0
	}
	return CountCPUs(text)
}

// CountCPUs counts the processors in the text of /proc/stat: the lines "cpu0 …", "cpu1 …".
func CountCPUs(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if len(line) > 3 && bytes.HasPrefix(line, []byte("cpu")) && line[3] >= '0' && line[3] <= '9' {
			n++
		}
	}
	return n
}
