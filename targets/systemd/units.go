package systemd

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	serviceSuffix = ".service"
	maxIndex      = math.MaxInt32
)

// unit is an instance of a template, as systemd lists it.
type unit struct {
	name  string
	index int32
	// active and sub are the unit's states, job is the kind of the job in the queue, if any.
	active, sub, job string
	properties       properties
}

// indexOf is the number in the name of an instance of the template. Names that are not written as
// hpad writes them are not numbers.
func indexOf(template, name string) (int32, bool) {
	before, _ := strings.CutSuffix(template, serviceSuffix)
	rest, ok := strings.CutPrefix(name, before)
	text, ok2 := strings.CutSuffix(rest, serviceSuffix)
	n, err := strconv.ParseInt(text, 10, 32)
	if !ok || !ok2 || err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, false
	}
	return int32(n), true
}

// instanceName is the unit with a number.
func instanceName(template string, index int32) string {
	before, _ := strings.CutSuffix(template, serviceSuffix)
	return before + strconv.Itoa(int(index)) + serviceSuffix
}

// exists tells whether there is anything of the unit: a process, a failure, or a job.
func (u *unit) exists() bool { return u.active != "inactive" || u.waits() || u.starts() }

// wanted tells whether somebody wants the unit to be there: it was started, and was not stopped
// since. What failed, or ended and is not down yet, was stopped by nobody.
func (u *unit) wanted() bool { return u.exists() && u.job != "stop" }

// waits tells whether the unit is down only until systemd starts it again.
func (u *unit) waits() bool { return strings.HasSuffix(u.sub, "-before-auto-restart") }

func (u *unit) starts() bool {
	switch u.job {
	case "start", "restart", "try-restart", "reload-or-start":
		return true
	}
	return false
}

// failed tells whether the unit is down for good.
func (u *unit) failed() bool { return u.active == "failed" && !u.waits() && !u.starts() }

// ready tells whether the unit serves. With Type=notify that is after it has said so.
func (u *unit) ready() bool {
	switch u.active {
	case "active", "reloading", "refreshing":
		return true
	}
	return false
}

// versionOf names the units that are wanted, in ascending order of their numbers: "1-3,7". It
// changes when somebody starts or stops one, and not when one fails.
func versionOf(wanted []unit) string {
	var b strings.Builder
	for i := 0; i < len(wanted); {
		end := i
		for end+1 < len(wanted) && wanted[end+1].index == wanted[end].index+1 {
			end++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", wanted[i].index)
		if end > i {
			fmt.Fprintf(&b, "-%d", wanted[end].index)
		}
		i = end + 1
	}
	return b.String()
}

// wantedOf are the units that count, lowest number first.
func wantedOf(units []unit) []unit {
	var wanted []unit
	for i := range units {
		if units[i].wanted() {
			wanted = append(wanted, units[i])
		}
	}
	return wanted
}

// victims are the n units to stop: those that failed first, then the highest numbers.
func victims(wanted []unit, n int) []unit {
	order := slices.Clone(wanted)
	slices.SortStableFunc(order, func(a, b unit) int {
		if a.failed() != b.failed() {
			if a.failed() {
				return -1
			}
			return 1
		}
		return int(b.index) - int(a.index)
	})
	return order[:n]
}

// free are the n lowest numbers that no unit has; fewer if the range has no more.
func free(units []unit, first, last int32, n int) []int32 {
	taken := make(map[int32]bool, len(units))
	for i := range units {
		if units[i].exists() {
			taken[units[i].index] = true
		}
	}
	var indexes []int32
	for i := int64(first); i <= int64(last) && len(indexes) < n; i++ {
		if !taken[int32(i)] {
			indexes = append(indexes, int32(i))
		}
	}
	return indexes
}
