package process

import (
	"testing"
	"time"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/targettest"
)

func TestContract(t *testing.T) {
	targettest.Run(t, targettest.Harness{New: newSubject, Settle: 20 * time.Second})
}

// newSubject makes no target: the instances live as long as the one the kit binds first.
func newSubject(t *testing.T, replicas int32) *targettest.Subject {
	c := &firstBound{Connection: openDriver(t, newRecorder())}
	p := program(t)
	values := func(command string) map[string]any {
		return map[string]any{"command": []any{command, "serve"}, "replicas": int64(replicas), "stop_grace": "5s"}
	}
	other := values(p.absolute)
	other["env"] = map[string]any{"COLOUR": "green"}
	return &targettest.Subject{
		Connection: c,
		Tables: []options.Table{
			options.NewTable(p.dir, values(p.absolute)),
			options.NewTable(p.dir, values(p.relative)),
			options.NewTable(p.dir, values(ownProgram)),
		},
		Other: options.NewTable(p.dir, other),
		Spec:  c.wanted,
		Change: func(n int32) {
			c.target.edit(func() {
				c.target.wanted = n
				c.target.version++
				c.target.resize()
			})
		},
	}
}

// firstBound remembers the first target.
type firstBound struct {
	targets.Connection
	target *target
}

func (f *firstBound) Bind(table options.Table) (targets.Target, error) {
	bound, err := f.Connection.Bind(table)
	if f.target == nil && err == nil {
		f.target = bound.(*target)
	}
	return bound, err
}

func (f *firstBound) wanted() (n int32) {
	f.target.edit(func() { n = f.target.wanted })
	return n
}
