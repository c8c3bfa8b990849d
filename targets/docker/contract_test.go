package docker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets/targettest"
)

func TestContract(t *testing.T) {
	targettest.Run(t, targettest.Harness{New: newSubject, Settle: 2 * time.Minute})
}

func newSubject(t *testing.T, replicas int32) *targettest.Subject {
	s := newService(t, int(replicas))
	c, proxy := s.connect()
	return &targettest.Subject{
		Connection: c,
		Tables: []options.Table{
			s.table(),
			table("labels", map[string]any{labelProject: s.project, labelService: "web"}),
			table("label", labelProject+"="+s.project, "labels", map[string]any{labelService: "web", labelOneOff: "False"}),
		},
		Other:   table("project", s.project, "service", "webx"),
		Spec:    func() int32 { return s.settled(c) },
		Change:  s.scale,
		Remove:  s.removeAll,
		Restore: func() { s.add(1) },
		Writes:  proxy.Writes,
		Hang:    proxy.Hang,
		Busy:    s.beginReplacing,
		Secrets: []string{"hunter2"},
	}
}

// settled counts what the engine runs once everything that was accepted has been done.
func (s *service) settled(c *connection) int32 {
	c.work.wg.Wait()
	return int32(len(s.names("running")))
}

// beginReplacing does what Compose does first to put another container in the place of one.
func (s *service) beginReplacing() (end func()) {
	ctx := context.Background()
	for _, c := range s.list() {
		if c.Labels[labelNumber] != "2" {
			continue
		}
		name := strings.TrimPrefix(c.Names[0], "/")
		if err := s.api().ContainerRename(ctx, c.ID, c.ID[:12]+"_"+name); err != nil {
			s.t.Fatal(err)
		}
		return func() {
			if err := s.api().ContainerRename(ctx, c.ID, name); err != nil {
				s.t.Error(err)
			}
		}
	}
	s.t.Fatal("there is no second container")
	return nil
}
