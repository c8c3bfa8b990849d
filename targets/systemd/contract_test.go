package systemd

import (
	"os"
	"testing"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets/targettest"
)

func TestContract(t *testing.T) {
	targettest.Run(t, targettest.Harness{New: newSubject})
}

func newSubject(t *testing.T, replicas int32) *targettest.Subject {
	s := newService(t, notifying)
	s.change(replicas)
	connection, p := s.connect()
	return &targettest.Subject{
		Connection: connection,
		Tables: []options.Table{
			table("unit", s.template()),
			table("unit", s.name+"@"),
			table("unit", s.template(), "first_index", int64(1), "max_index", int64(9)),
		},
		Other:  table("unit", s.name+"x@.service"),
		Spec:   func() int32 { return int32(len(s.running())) },
		Change: s.change,
		Remove: s.remove,
		Restore: func() {
			s.create()
			s.change(1)
		},
		Writes:  p.written,
		Hang:    p.hang,
		Busy:    s.reload,
		Secrets: []string{"hunter2"},
	}
}

// reload has an instance read its configuration, which takes until end is called.
func (s *service) reload() (end func()) {
	end = s.holdOn()
	s.do("reload", 1)
	return end
}

// holdOn makes the hold file.
func (s *service) holdOn() (end func()) {
	if err := os.WriteFile(s.hold(), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return func() { _ = os.Remove(s.hold()) }
}
