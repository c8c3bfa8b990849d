package targettest

import (
	"context"
	"sync"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// Fakes are the targets in memory that one driver can reach, by name. The zero value is ready.
type Fakes struct {
	mu    sync.Mutex
	named map[string]*Fake
}

// Add makes a Fake, in the place of one that had the name before.
func (f *Fakes) Add(name string, replicas int32) *Fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(name, replicas)
}

func (f *Fakes) add(name string, replicas int32) *Fake {
	if f.named == nil {
		f.named = map[string]*Fake{}
	}
	f.named[name] = NewFake(name, replicas)
	return f.named[name]
}

// Get returns the Fake of that name; one that was never added is made, and does not exist as a
// target.
func (f *Fakes) Get(name string) *Fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fake := f.named[name]; fake != nil {
		return fake
	}
	fake := f.add(name, 0)
	fake.Remove()
	return fake
}

// Driver is the driver "fake". The table of its connection has no keys, that of a target has the
// key "name".
func (f *Fakes) Driver() targets.Driver {
	return targets.Driver{Name: "fake", KnowsRequests: true, Open: func(_ targets.Environment, table options.Table) (targets.Connection, error) {
		if err := table.Decode(&struct{}{}); err != nil {
			return nil, err
		}
		return f, nil
	}}
}

// Bind returns the target that the table names.
func (f *Fakes) Bind(table options.Table) (targets.Target, error) {
	var decoded struct {
		Name string `toml:"name"`
	}
	if err := table.Decode(&decoded); err != nil {
		return nil, err
	}
	if decoded.Name == "" {
		return nil, options.Errorf("name", "must be set")
	}
	return f.Get(decoded.Name).Target(), nil
}

// Close does nothing.
func (f *Fakes) Close() error { return nil }

type fakeTarget struct{ *Fake }

func (t fakeTarget) ID() string { return "fake:" + t.name }

func (t fakeTarget) Status(ctx context.Context) (targets.Status, error) {
	if err := t.wait(ctx, false); err != nil {
		return targets.Status{}, err
	}
	return t.status()
}

func (t fakeTarget) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	if err := t.wait(ctx, true); err != nil {
		return err
	}
	return t.set(from, replicas)
}

func (t fakeTarget) Close() error { return nil }
