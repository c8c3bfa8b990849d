package targettest

import (
	"fmt"
	"slices"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

type fakeInstance struct {
	id      string
	started time.Time
	ready   time.Time
	removed time.Time // zero while wanted
}

// at is the instance as seen at a time.
func (i *fakeInstance) at(now time.Time, requests []algorithm.Request) targets.Instance {
	instance := targets.Instance{Identifiers: []string{i.id, i.id + ":8080"}}
	instance.ID = i.id
	instance.Started = i.started
	instance.ReadyTransition = i.started
	instance.Ready = algorithm.NotReady
	instance.Deleting = !i.removed.IsZero()
	instance.Containers = []algorithm.Container{{Requests: slices.Clone(requests)}}
	if now.Before(i.ready) {
		instance.Phase = algorithm.PhasePending
		return instance
	}
	instance.Ready = algorithm.Ready
	instance.ReadyTransition = i.ready
	return instance
}

// resize makes instances that become ready at a time, or marks the youngest as removed, until
// there are as many as wanted.
func (f *Fake) resize(ready time.Time) {
	f.sweep()
	var wanted []*fakeInstance
	for _, instance := range f.instances {
		if instance.removed.IsZero() {
			wanted = append(wanted, instance)
		}
	}
	for len(wanted) > int(f.spec) {
		wanted[len(wanted)-1].removed = time.Now()
		wanted = wanted[:len(wanted)-1]
	}
	for n := len(wanted); n < int(f.spec); n++ {
		f.made++
		id := fmt.Sprintf("%s-%d", f.name, f.made)
		f.instances = append(f.instances, &fakeInstance{id: id, started: time.Now(), ready: ready})
	}
	f.sweep()
}

// sweep forgets removed instances whose time is over.
func (f *Fake) sweep() {
	f.instances = slices.DeleteFunc(f.instances, func(i *fakeInstance) bool {
		return !i.removed.IsZero() && time.Since(i.removed) >= f.gone
	})
}
