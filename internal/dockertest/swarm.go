package dockertest

import (
	"testing"

	"github.com/docker/docker/api/types/swarm"
)

// SwarmInit makes the engine the manager, and only node, of a swarm. Kernels without ip_vs have
// neither virtual addresses nor the routing mesh: services of tests use no network, or endpoint
// mode dnsrr.
func (e *Engine) SwarmInit(t testing.TB) {
	t.Helper()
	request := swarm.InitRequest{ListenAddr: "127.0.0.1:2377", AdvertiseAddr: "127.0.0.1"}
	if _, err := e.client.SwarmInit(t.Context(), request); err != nil {
		t.Fatalf("cannot initialise a swarm: %v", err)
	}
}
