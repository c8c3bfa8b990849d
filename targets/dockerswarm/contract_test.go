package dockerswarm

import (
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets/targettest"
)

func TestContract(t *testing.T) {
	targettest.Run(t, targettest.Harness{New: newSubject, Settle: 2 * time.Minute})
}

func newSubject(t *testing.T, replicas int32) *targettest.Subject {
	s := newService(t, replicated(uint64(replicas)))
	connection, proxy := s.connect()
	return &targettest.Subject{
		Connection: connection,
		Tables:     []options.Table{table("service", s.spec.Name)},
		Other:      table("service", s.spec.Name+"x"),
		Spec:       s.replicas,
		Change:     func(n int32) { s.update(replicated(uint64(n))) },
		Remove:     s.remove,
		Restore: func() {
			*s.spec.Mode.Replicated.Replicas = 1
			s.create()
		},
		Writes:  proxy.Writes,
		Hang:    proxy.Hang,
		Busy:    s.rollOut,
		Secrets: []string{"hunter2"},
	}
}

// rollOut begins an update that takes some seconds and ends by itself.
func (s *service) rollOut() (end func()) {
	s.update(func(spec *swarm.ServiceSpec) {
		spec.UpdateConfig.Delay = time.Second
		spec.TaskTemplate.ContainerSpec.Env = append(spec.TaskTemplate.ContainerSpec.Env, "RELEASE=2")
	})
	return func() {}
}
