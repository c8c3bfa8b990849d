package docker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/hpad/hpad/targets"
)

// obstacles say why there cannot be two of a container.
func (s *selector) obstacles(m *member, kind engineKind) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	labels := m.seen.Config.Labels
	switch {
	case labels[labelTask] != "":
		add(`it is a task of a swarm service, which the driver "docker-swarm" scales`)
	case s.compose() && kind == enginePodman:
		add("the engine is Podman, where only plain containers are scaled: write label instead of project and service")
	case !s.compose() && labels[labelProject] != "":
		add("it belongs to Compose: write project = %q and service = %q instead of its labels", labels[labelProject], labels[labelService])
	case s.compose() && !m.replaced() && !composeName(m):
		add("its name is fixed (container_name)")
	}
	switch mode := m.seen.HostConfig.NetworkMode; {
	case mode.IsHost():
		add("it uses the network of the machine (network_mode: host), where its ports can be taken once only")
	case mode.IsContainer():
		add("it uses the network of another container")
	}
	for _, port := range fixedPorts(m) {
		add("it publishes the fixed port %s of the machine; leave the choice of the port to the engine", port)
	}
	for network, address := range staticAddresses(m) {
		add("it has the static address %s in the network %q", address, network)
	}
	slices.Sort(list)
	return list
}

// composeName tells whether a container's name is the one that Compose makes of the number.
func composeName(m *member) bool {
	labels := m.seen.Config.Labels
	for _, separator := range []string{"-", "_"} {
		parts := []string{labels[labelProject], labels[labelService], labels[labelNumber]}
		if m.name == strings.Join(parts, separator) {
			return true
		}
	}
	return false
}

// fixedPorts are ports of the machine that one container alone can have. A range leaves a choice.
func fixedPorts(m *member) []string {
	var list []string
	for _, bindings := range m.seen.HostConfig.PortBindings {
		for _, b := range bindings {
			if b.HostPort != "" && b.HostPort != "0" && !strings.Contains(b.HostPort, "-") {
				list = append(list, b.HostPort)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func staticAddresses(m *member) map[string]string {
	found := map[string]string{}
	if m.seen.NetworkSettings == nil {
		return found
	}
	for network, endpoint := range m.seen.NetworkSettings.Networks {
		if endpoint == nil || endpoint.IPAMConfig == nil {
			continue
		}
		for _, address := range []string{endpoint.IPAMConfig.IPv4Address, endpoint.IPAMConfig.IPv6Address} {
			if address != "" {
				found[network] = address
			}
		}
	}
	return found
}

// check returns the error of a target that is not there or can never be scaled.
func (t *target) check(s *scene, kind engineKind) error {
	if s.template == nil {
		what := "no container with the labels"
		if t.selector.compose() {
			what = "no container of the Compose service"
		}
		return targets.Errorf(targets.NotFound, "there is %s %q", what, t.selector)
	}
	if list := t.selector.obstacles(s.template, kind); len(list) > 0 {
		return targets.Errorf(targets.Invalid, "cannot scale %q: there cannot be two of container %q: %s", t.selector, s.template.name, strings.Join(list, "; "))
	}
	return nil
}

// Reasons of blocks.
const (
	reasonRecreated = "ContainersRecreated"
	reasonStopping  = "TemplateStopping"
	reasonStart     = "StartFailed"
)

// blocks say what must wait.
func (l *ledger) blocks(s *scene) []targets.Block {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []targets.Block
	for _, m := range slices.Concat(s.live, s.stopped) {
		if m.replaced() {
			list = append(list, targets.Block{Up: true, Down: true, Reason: reasonRecreated,
				Message: fmt.Sprintf("Compose is replacing containers: there is %q", m.name)})
			break
		}
	}
	if slices.ContainsFunc(s.going, func(m *member) bool { return m.id == s.template.id }) {
		list = append(list, targets.Block{Up: true, Reason: reasonStopping,
			Message: fmt.Sprintf("container %q is being stopped and can be started only after that", s.template.name)})
	}
	if s.now.Before(l.heldUntil) {
		list = append(list, targets.Block{Up: true, Reason: reasonStart, Message: l.failure})
	}
	return list
}

// refuse returns the error of a change that must not be made now.
func (t *target) refuse(s *scene, from targets.Status, replicas int32) error {
	if from.Version != s.version() {
		return targets.Errorf(targets.Conflict, "cannot scale %q: it was changed since it was read", t.selector)
	}
	status := targets.Status{SpecReplicas: int32(s.wanted), Blocks: t.ledger.blocks(s)}
	block := status.Blocked(replicas)
	if block == nil {
		return nil
	}
	class := targets.Busy
	if block.Reason == reasonStart {
		class = targets.Capacity
	}
	return targets.Errorf(class, "cannot scale %q: %s", t.selector, block.Message)
}

// removedWhenStopped tells whether the engine removes the container as soon as it has stopped.
func removedWhenStopped(seen *container.InspectResponse) bool { return seen.HostConfig.AutoRemove }
