package docker

import (
	"encoding/json"
	"io"
	"time"

	"github.com/hpad/hpad/sources/internal/cgroup"
)

// answer is what the engine says of one container. The zero answer is that of a container which
// does not run, or of which the engine knows nothing.
type answer struct {
	running bool
	used    time.Duration
	// stamp is the engine's time of the reading, taken ours when the answer came.
	stamp, taken time.Time
	cpus         int
	memory       uint64
	hasMemory    bool
}

// body is the part of the engine's answer that we read. Everything else in it is skipped, the
// counters before (precpu_stats) among it: engines fill them differently, or not at all.
type body struct {
	// Response is set by Podman, which answers 200 for a container that does not run.
	Response int       `json:"response"`
	Read     time.Time `json:"read"`
	CPU      struct {
		Usage struct {
			Total uint64 `json:"total_usage"`
		} `json:"cpu_usage"`
		Online uint32 `json:"online_cpus"`
	} `json:"cpu_stats"`
	Memory struct {
		Usage uint64 `json:"usage"`
		Stats struct {
			TotalInactive *uint64 `json:"total_inactive_file"`
			Inactive      *uint64 `json:"inactive_file"`
		} `json:"stats"`
	} `json:"memory_stats"`
}

func readAnswer(r io.Reader) (answer, error) {
	var b body
	if err := json.NewDecoder(io.LimitReader(r, maxAnswer)).Decode(&b); err != nil {
		return answer{}, err
	}
	return b.answer(), nil
}

func (b *body) answer() answer {
	used, ok := cgroup.CPUTime(b.CPU.Usage.Total, time.Nanosecond)
	if b.Response != 0 || b.Read.IsZero() || !ok {
		return answer{}
	}
	a := answer{running: true, used: used, stamp: b.Read, cpus: int(b.CPU.Online)}
	// cgroup v1 has both numbers, and there the one without "total" leaves out the groups below.
	inactive := b.Memory.Stats.TotalInactive
	if inactive == nil {
		inactive = b.Memory.Stats.Inactive
	}
	if inactive != nil {
		a.memory, a.hasMemory = cgroup.WorkingSet(b.Memory.Usage, *inactive)
	}
	return a
}
