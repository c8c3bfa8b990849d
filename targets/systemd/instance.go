package systemd

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// instance is a unit as an instance.
func (u *unit) instance() targets.Instance {
	p := &u.properties
	i := targets.Instance{Identifiers: u.identifiers(), PID: int(p.pid), Cgroup: p.cgroup}
	i.ID = u.name
	i.Deleting = !u.wanted()
	i.Ready = algorithm.NotReady
	i.ReadyTransition = timeOf(max(p.entered, p.left))
	i.Started = timeOf(p.begun)
	if p.begun == 0 {
		i.Started = timeOf(p.entered)
	}
	i.Containers = []algorithm.Container{{Requests: p.requests()}}
	switch {
	case u.ready():
		i.Phase, i.Ready = algorithm.PhaseRunning, algorithm.Ready
		i.ReadyTransition = timeOf(p.entered)
	case u.failed():
		i.Phase = algorithm.PhaseFailed
	case u.active == "deactivating":
		i.Phase = algorithm.PhaseRunning
	default:
		i.Phase = algorithm.PhasePending
	}
	return i
}

// identifiers are the names that a label of a metric may give a unit. A process id that looks like
// the unit's number would be ambiguous, and is left out.
func (u *unit) identifiers() []string {
	index := strconv.Itoa(int(u.index))
	names := []string{u.name, strings.TrimSuffix(u.name, serviceSuffix), index}
	if pid := strconv.Itoa(int(u.properties.pid)); u.properties.pid != 0 && pid != index {
		names = append(names, pid)
	}
	return names
}

// timeOf turns systemd's microseconds since 1970 into a time; 0 is none.
func timeOf(microseconds uint64) time.Time {
	if microseconds == 0 || microseconds > math.MaxInt64 {
		return time.Time{}
	}
	return time.UnixMicro(int64(microseconds))
}

// requests are the unit's limits, which are all it says about its needs: CPUQuota, and the lower
// one of MemoryHigh and MemoryMax. What has no limit is left to the workload's own configuration.
func (p *properties) requests() []algorithm.Request {
	const perThousandth = 1000 // microseconds per second
	var list []algorithm.Request
	if p.cpu > 0 && p.cpu <= math.MaxInt64 {
		list = append(list, algorithm.Request{Resource: "cpu", Value: algorithm.Quantity((p.cpu-1)/perThousandth + 1)})
	}
	if bytes := min(p.memoryHigh, p.memory); bytes > 0 && bytes <= math.MaxInt64/1000 {
		list = append(list, algorithm.Request{Resource: "memory", Value: algorithm.Quantity(bytes * 1000)})
	}
	return list
}
