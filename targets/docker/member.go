package docker

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
)

// member is a container that a selector selects.
type member struct {
	id, name string
	seen     container.InspectResponse
	raw      []byte // the text of seen, with what this program does not know
	// slot is the place of the container among the others: what takes its place has the same slot.
	slot   string
	number int // 0 if it has none
	// ours is true for a clone.
	ours bool
}

func newMember(seen container.InspectResponse, raw []byte) (*member, error) {
	if seen.ContainerJSONBase == nil || seen.State == nil || seen.Config == nil || seen.HostConfig == nil || len(seen.ID) < shortLength {
		return nil, errors.New("the engine's answer describes no container")
	}
	return &member{id: seen.ID, name: strings.TrimPrefix(seen.Name, "/"), seen: seen, raw: raw}, nil
}

const shortLength = 12

func (m *member) short() string { return m.id[:shortLength] }

// member returns a copy with its place among the members of the target.
func (s *selector) member(m *member) *member {
	placed := *m
	labels := m.seen.Config.Labels
	placed.ours = labels[labelTemplate] != ""
	key := labelNumber
	if !s.compose() {
		key = labelClone
	}
	placed.slot = m.id
	if n, err := strconv.Atoi(labels[key]); err == nil && n > 0 && (s.compose() || placed.ours) {
		placed.number, placed.slot = n, strconv.Itoa(n)
	}
	return &placed
}

// runs tells whether the container has a process, or gets one again from the engine.
func (m *member) runs() bool {
	switch m.seen.State.Status {
	case container.StateRunning, container.StatePaused, container.StateRestarting:
		return true
	}
	return false
}

// fresh tells whether the container was created and never started.
func (m *member) fresh() bool { return m.seen.State.Status == container.StateCreated }

// removed tells whether the container is on its way out.
func (m *member) removed() bool { return m.seen.State.Status == container.StateRemoving }

// resumable tells whether a container that does not run may be started again: somebody stopped it,
// or has not started it yet. One that ended by itself with an error would do so again.
func (m *member) resumable() bool {
	if m.fresh() {
		return true
	}
	state := m.seen.State
	if state.Status != container.StateExited || state.OOMKilled {
		return false
	}
	const killed, terminated = 128 + 9, 128 + 15
	return state.ExitCode == 0 || state.ExitCode == killed || state.ExitCode == terminated
}

// health is what the container's check says; empty if it has none.
func (m *member) health() container.HealthStatus {
	if h := m.seen.State.Health; h != nil && h.Status != container.NoHealthcheck {
		return h.Status
	}
	return ""
}

// started is the time of the last start, or zero.
func (m *member) started() time.Time { return moment(m.seen.State.StartedAt) }

// moment reads a time of the engine; its zero time is the year 1.
func moment(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}

// stopTimeout is how long the engine waits after the stop signal; negative for ever.
func (m *member) stopTimeout() time.Duration {
	const ofTheEngine = 10 * time.Second
	if t := m.seen.Config.StopTimeout; t != nil {
		return time.Duration(*t) * time.Second
	}
	return ofTheEngine
}

// replacing is the beginning of the name that Compose gives a container while another takes its
// place.
var replacing = regexp.MustCompile(`^[0-9a-f]{12}_`)

func (m *member) replaced() bool { return replacing.MatchString(m.name) }

// templateOf returns the container that is cloned and never removed: the oldest that somebody else
// made, if possible one that runs; a clone only if there is nothing else. It is nil if there are no
// members.
func templateOf(members []*member) *member {
	var best *member
	for _, m := range members {
		if !m.removed() && (best == nil || templateOrder(m, best) < 0) {
			best = m
		}
	}
	return best
}

func templateOrder(a, b *member) int {
	return cmp.Or(
		last(a.replaced(), b.replaced()),
		last(a.ours, b.ours),
		last(!a.runs(), !b.runs()),
		byNumber(a, b),
	)
}

// byNumber orders by number and, where there is none, by age.
func byNumber(a, b *member) int {
	return cmp.Or(cmp.Compare(a.number, b.number), moment(a.seen.Created).Compare(moment(b.seen.Created)), cmp.Compare(a.id, b.id))
}

// last orders what is so behind what is not.
func last(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// outdated tells whether a container was made from another template, or by another configuration
// of Compose, than what a clone would be made from now.
func (m *member) outdated(template *member) bool {
	if m.ours && m.seen.Config.Labels[labelTemplate] != template.id {
		return true
	}
	return m.seen.Config.Labels[labelHash] != template.seen.Config.Labels[labelHash]
}

// victims returns the n containers that go first: what never started, what is broken, what is
// starting, what is out of date, and then the highest number. The template is never among them.
func victims(live []*member, template *member, n int) []*member {
	rank := func(m *member) int {
		switch {
		case m.fresh():
			return 0
		case m.health() == container.Unhealthy, !m.seen.State.Running, m.seen.State.Restarting:
			return 1
		case m.health() == container.Starting:
			return 2
		case m.outdated(template):
			return 3
		}
		return 4
	}
	list := slices.DeleteFunc(slices.Clone(live), func(m *member) bool { return m.id == template.id })
	slices.SortFunc(list, func(a, b *member) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), byNumber(b, a)) })
	return list[:min(n, len(list))]
}
