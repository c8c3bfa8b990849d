package daemon

import (
	"hash/fnv"
	"time"

	"github.com/hpad/hpad/sources"
)

// firstWithin is the span over which new workloads are evaluated for the first time. It leaves
// room for the evaluations themselves to begin within one second.
const firstWithin = 900 * time.Millisecond

// grid is the distance of the phases. A process that wakes up a few times per second for several
// workloads each time needs less CPU time than one that wakes up for every workload.
const grid = 500 * time.Millisecond

// group is workloads that ask the same queries, directly or through each other.
type group []*workload

// groups sorts workloads into groups, in the order of their first members.
func groups(workloads []*workload) []group {
	leader := make([]int, len(workloads))
	asked := map[askedQuery]int{}
	for i, w := range workloads {
		leader[i] = i
		for _, f := range w.binding().feeds {
			if !f.byQuery() {
				continue
			}
			q := askedQuery{f.source, f.query()}
			if first, ok := asked[q]; ok {
				join(leader, first, i)
			} else {
				asked[q] = i
			}
		}
	}
	index := map[int]int{}
	var all []group
	for i, w := range workloads {
		l := find(leader, i)
		at, ok := index[l]
		if !ok {
			at = len(all)
			index[l] = at
			all = append(all, nil)
		}
		all[at] = append(all[at], w)
	}
	return all
}

type askedQuery struct {
	source *source
	query  sources.Query
}

// find returns the leader of i, and shortens the way there.
func find(leader []int, i int) int {
	for leader[i] != i {
		leader[i] = leader[leader[i]]
		i = leader[i]
	}
	return i
}

// join merges the groups of a and b under the smaller leader.
func join(leader []int, a, b int) {
	a, b = find(leader, a), find(leader, b)
	leader[max(a, b)] = min(a, b)
}

// offset is the group's place within a span: a hash of its first name in alphabetical order, so
// that it survives restarts and changes of the order in the configuration.
func (g group) offset(span time.Duration) time.Duration {
	name := g[0].name
	for _, w := range g[1:] {
		name = min(name, w.name)
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return time.Duration(mix(h.Sum64()) % uint64(span))
}

// mix spreads the hash over all bits: FNV of names that differ in their last letter only differs
// mostly in the low ones.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}

// turns plans the groups: a turn per sync period at the group's phase, and one soon for the
// members that were never evaluated.
func turns(all []group, period time.Duration, now time.Time) []*turn {
	var planned []*turn
	for _, g := range all {
		planned = append(planned, &turn{due: nextAt(now, period, g.offset(period).Truncate(grid)), every: period, members: g})
		var fresh []*workload
		for _, w := range g {
			if w.isFresh() {
				fresh = append(fresh, w)
			}
		}
		if fresh != nil {
			due := now.Add(g.offset(min(firstWithin, period)))
			for _, w := range fresh {
				w.settle(due, period)
			}
			planned = append(planned, &turn{due: due, members: fresh})
		}
	}
	return planned
}

// nextAt returns the first time after now that is offset past a multiple of the period.
func nextAt(now time.Time, period, offset time.Duration) time.Time {
	past := time.Duration(uint64(now.UnixNano()) % uint64(period))
	wait := offset - past
	if wait <= 0 {
		wait += period
	}
	return now.Add(wait)
}
