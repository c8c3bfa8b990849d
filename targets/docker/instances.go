package docker

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/docker/docker/api/types/container"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// readyNow: without a check a container is ready while it runs.
func readyNow(m *member) algorithm.Readiness {
	if m.seen.State.Status != container.StateRunning {
		return algorithm.NotReady
	}
	switch m.health() {
	case "", container.Healthy:
		return algorithm.Ready
	}
	return algorithm.NotReady
}

// instances are the containers that live and those that are being stopped.
func (l *ledger) instances(s *scene) []targets.Instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	hosts := map[string]int{}
	for _, m := range slices.Concat(s.live, s.going) {
		hosts[m.seen.Config.Hostname]++
	}
	var list []targets.Instance
	for i, m := range slices.Concat(s.live, s.going) {
		instance := instanceOf(m, hosts[m.seen.Config.Hostname] == 1)
		instance.Deleting = i >= len(s.live)
		if r, ok := l.readiness[m.id]; ok {
			instance.ReadyTransition = r.since
		}
		list = append(list, instance)
	}
	slices.SortFunc(list, func(a, b targets.Instance) int { return a.Started.Compare(b.Started) })
	return list
}

func instanceOf(m *member, ownHost bool) targets.Instance {
	instance := targets.Instance{Identifiers: identifiers(m, ownHost), ContainerID: m.id, PID: m.seen.State.Pid}
	instance.ID = m.id
	instance.Phase = algorithm.PhasePending
	instance.Ready = readyNow(m)
	instance.Started = m.started()
	instance.Containers = []algorithm.Container{{Name: m.seen.Config.Labels[labelService], Requests: requests(&m.seen)}}
	if m.runs() {
		instance.Phase = algorithm.PhaseRunning
	}
	return instance
}

// identifiers are the names that a label of a metric may give a container. A host name that the
// configuration sets is the same for all clones and tells none of them.
func identifiers(m *member, ownHost bool) []string {
	hosts := []string{m.name}
	if ownHost {
		hosts = append(hosts, m.seen.Config.Hostname)
	}
	if settings := m.seen.NetworkSettings; settings != nil {
		for _, endpoint := range settings.Networks {
			if endpoint != nil {
				hosts = append(hosts, endpoint.IPAddress, endpoint.GlobalIPv6Address)
			}
		}
	}
	hosts = slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
	names := slices.Concat([]string{m.short()}, hosts, withPorts(m, hosts))
	slices.Sort(names)
	return append([]string{m.id}, slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == m.id })...)
}

// withPorts joins the container's own hosts with its ports, and the machine's addresses with those
// it has published there.
func withPorts(m *member, hosts []string) []string {
	ports := map[string]bool{}
	for port := range m.seen.Config.ExposedPorts {
		ports[port.Port()] = true
	}
	var names []string
	if m.seen.NetworkSettings != nil {
		for port, bindings := range m.seen.NetworkSettings.Ports {
			ports[port.Port()] = true
			for _, b := range bindings {
				names = append(names, published(b.HostIP, b.HostPort)...)
			}
		}
	}
	for port := range ports {
		for _, host := range hosts {
			names = append(names, net.JoinHostPort(host, port))
		}
	}
	return names
}

// published are the addresses of a published port; all of the machine's are known here by the
// local one only.
func published(address, port string) []string {
	ip, err := netip.ParseAddr(address)
	if err == nil && !ip.IsUnspecified() {
		return []string{net.JoinHostPort(address, port)}
	}
	return []string{"localhost:" + port, "127.0.0.1:" + port}
}

// requests are what the engine keeps of what was reserved: memory's reservation, else its limit,
// and the limit of the CPU, as an engine knows no reservation of it. What has neither is left to
// the workload's own configuration.
func requests(seen *container.InspectResponse) []algorithm.Request {
	limits := seen.HostConfig.Resources
	nano := limits.NanoCPUs
	if nano == 0 && limits.CPUQuota > 0 {
		const engineDefault = 100_000
		period := limits.CPUPeriod
		if period <= 0 {
			period = engineDefault
		}
		nano = int64(float64(limits.CPUQuota) / float64(period) * 1e9)
	}
	memory := limits.MemoryReservation
	if memory <= 0 {
		memory = limits.Memory
	}
	const nanosPerThousandth = 1_000_000
	var list []algorithm.Request
	if nano > 0 {
		list = append(list, algorithm.Request{Resource: "cpu", Value: algorithm.Quantity((nano-1)/nanosPerThousandth + 1)})
	}
	if memory > 0 {
		list = append(list, algorithm.Request{Resource: "memory", Value: algorithm.Quantity(min(memory, math.MaxInt64/1000) * 1000)})
	}
	return list
}

// warnings are what an operator cannot see in the counts.
func (s *scene) warnings(kind engineKind) []string {
	var list []string
	for _, m := range s.live {
		state := m.seen.State
		switch {
		case state.Restarting:
			list = append(list, fmt.Sprintf("container %q restarts again and again (%d times, the last exit code was %d)", m.name, m.seen.RestartCount, state.ExitCode))
		case kind == enginePodman && m.health() == container.Starting && len(state.Health.Log) == 0 && s.now.Sub(m.started()) > holdAfterFailure:
			list = append(list, fmt.Sprintf("the check of container %q has never run; Podman needs systemd for that", m.name))
		}
	}
	for _, m := range slices.Concat(s.stopped, s.rests) {
		if m.seen.State.Status == container.StateExited && !m.resumable() || m.seen.State.Status == container.StateDead {
			list = append(list, fmt.Sprintf("container %q has ended with exit code %d and nobody restarts it", m.name, m.seen.State.ExitCode))
		}
	}
	const most = 5
	if n := len(list) - most; n > 0 {
		list = append(list[:most], strconv.Itoa(n)+" more containers have a problem")
	}
	return list
}
