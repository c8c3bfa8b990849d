package systemd

import (
	"sync"
	"time"
)

// readAgain is when properties are read again although the unit's state has not changed: a limit
// that was set meanwhile, or a main process that named another one in its place, changes no state.
const readAgain = time.Minute

// memory is what was read of a unit, and the time of its last change of state by then.
type memory struct {
	changed    uint64
	read       time.Time
	properties properties
}

// memories are those of all units, by name.
type memories struct {
	mu     sync.Mutex
	byName map[string]memory
}

func (m *memories) get(name string, changed uint64) (properties, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	remembered, ok := m.byName[name]
	return remembered.properties, ok && remembered.changed == changed
}

func (m *memories) put(name string, fresh memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byName == nil {
		m.byName = map[string]memory{}
	}
	m.byName[name] = fresh
}

// forget drops what has to be read again, be it that nobody asks for it any more.
func (m *memories) forget(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, remembered := range m.byName {
		if now.Sub(remembered.read) >= readAgain {
			delete(m.byName, name)
		}
	}
}
