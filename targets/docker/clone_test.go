package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/go-connections/nat"
	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/targets"
)

// configuration is what of a container somebody configured, without its identity.
func configuration(t *testing.T, seen container.InspectResponse) map[string]any {
	t.Helper()
	endpoints := map[string]any{}
	for name, e := range seen.NetworkSettings.Networks {
		aliases := slices.DeleteFunc(slices.Clone(e.Aliases), func(alias string) bool { return alias == seen.ID[:12] })
		for i := range aliases {
			aliases[i] = strings.ReplaceAll(aliases[i], strings.TrimPrefix(seen.Name, "/"), "NAME")
		}
		endpoints[name] = map[string]any{"aliases": aliases, "driver": e.DriverOpts, "links": e.Links}
	}
	text, err := json.Marshal(map[string]any{"config": seen.Config, "host": seen.HostConfig, "networks": endpoints, "image": seen.Image})
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	config := plain["config"].(map[string]any)
	if config["Hostname"] == seen.ID[:12] {
		config["Hostname"] = "ID"
	}
	labels := config["Labels"].(map[string]any)
	for _, own := range []string{labelNumber, labelTemplate} {
		delete(labels, own)
	}
	return plain
}

// everything is a container with all that Compose can configure here.
func everything(c *container.Config, h *container.HostConfig, _ *network.NetworkingConfig) {
	grace := 3
	c.StopTimeout, c.StopSignal = &grace, "SIGINT"
	c.Env = append(c.Env, "LISTEN=:80", "A=1")
	c.Healthcheck = &container.HealthConfig{Test: []string{"CMD", "/program", "check"}, Interval: 200 * time.Millisecond, Timeout: 5 * time.Second, Retries: 1}
	c.ExposedPorts = nat.PortSet{"80/tcp": {}}
	c.Volumes = map[string]struct{}{"/anonymous": {}}
	c.WorkingDir = "/tmp"
	c.Domainname = "example.org"
	c.Cmd = strslice.StrSlice{"serve"}
	h.PortBindings = nat.PortMap{"80/tcp": {{HostPort: ""}}}
	h.RestartPolicy = container.RestartPolicy{Name: "on-failure", MaximumRetryCount: 3}
	h.Memory, h.MemoryReservation, h.NanoCPUs = 64<<20, 32<<20, 500_000_000
	h.CapAdd, h.CapDrop = []string{"NET_ADMIN"}, []string{"MKNOD"}
	h.ReadonlyRootfs = true
	h.Tmpfs = map[string]string{"/tmp": "size=1m"}
	h.Sysctls = map[string]string{"net.core.somaxconn": "100"}
	h.Ulimits = []*container.Ulimit{{Name: "nofile", Soft: 100, Hard: 200}}
	h.LogConfig = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "1m"}}
	h.ExtraHosts = []string{"db:10.0.0.1"}
	h.Binds = []string{"named:/named:rw"}
	h.Mounts = []mount.Mount{{Type: mount.TypeTmpfs, Target: "/scratch"}}
	init := true
	h.Init = &init
	h.OomScoreAdj = 100
	h.GroupAdd = []string{"5"}
	h.DNS = []string{"10.0.0.2"}
}

func TestCloneDiffersFromWhatComposeWouldMakeInItsLabelsOnly(t *testing.T) {
	s := newService(t, 0, everything)
	second := s.project + "_second"
	made, err := s.api().NetworkCreate(t.Context(), second, network.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.removeAll()
		_ = s.api().NetworkRemove(context.Background(), made.ID)
	})
	both := func(n int) string {
		id := s.create(n)
		if err := s.api().NetworkConnect(t.Context(), second, id, &network.EndpointSettings{Aliases: []string{s.name(n), "other"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.api().ContainerStart(t.Context(), id, container.StartOptions{}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	template := both(1)
	target := s.target()
	mustSet(t, target, 2)
	eventually(t, func() error {
		if n := ready(mustStatus(t, target)); n != 2 {
			return fmt.Errorf("%d containers are ready", n)
		}
		return nil
	})
	clone, replica := s.inspect(s.name(2)), s.inspect(both(3))
	if diff := cmp.Diff(configuration(t, replica), configuration(t, clone)); diff != "" {
		t.Errorf("(-Compose's own +clone):\n%s", diff)
	}
	if got := clone.Config.Labels[labelTemplate]; got != template {
		t.Errorf("the clone names the template %q, want %q", got, template)
	}
	volumes := func(seen container.InspectResponse) map[string]string {
		found := map[string]string{}
		for _, m := range seen.Mounts {
			found[m.Destination] = m.Name
		}
		return found
	}
	of, theirs := volumes(clone), volumes(s.inspect(template))
	if of["/anonymous"] == "" || of["/anonymous"] == theirs["/anonymous"] || of["/named"] != "named" {
		t.Errorf("the clone's volumes are %v, the template's %v", of, theirs)
	}
}

func ready(status targets.Status) int {
	n := 0
	for i := range status.Instances {
		if status.Instances[i].Ready == 0 && !status.Instances[i].Deleting {
			n++
		}
	}
	return n
}

func TestAnonymousVolumeOfAPredecessorIsNotShared(t *testing.T) {
	const volume = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	s := newService(t, 1, func(_ *container.Config, h *container.HostConfig, _ *network.NetworkingConfig) {
		h.Binds = []string{volume + ":/data:rw"}
	})
	target := s.target()
	mustSet(t, target, 2)
	own := s.inspect(s.name(2)).Mounts
	if len(own) != 1 || own[0].Destination != "/data" || own[0].Name == volume || own[0].Name == "" {
		t.Fatalf("the clone mounts %+v", own)
	}
	target.connection.work.wg.Wait()
	mustSet(t, target, 1)
	target.connection.work.wg.Wait()
	if _, err := s.api().VolumeInspect(t.Context(), own[0].Name); !errdefs.IsNotFound(err) {
		t.Errorf("the clone's volume is still there: %v", err)
	}
	if err := s.api().VolumeRemove(t.Context(), volume, true); err == nil {
		t.Error("the template does not use its volume")
	}
}

func TestCloneRunsTheTemplatesImageAlthoughItsNameHasMoved(t *testing.T) {
	s := newService(t, 0, func(c *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) { c.Image = "moving" })
	s.engine.ImportWorkload(t, "moving")
	template := s.inspect(s.add(1))
	if err := s.api().ImageTag(t.Context(), template.Image, "kept:old"); err != nil {
		t.Fatal(err)
	}
	s.engine.ImportWorkload(t, "other")
	if err := s.api().ImageTag(t.Context(), "other", "moving"); err != nil {
		t.Fatal(err)
	}
	mustSet(t, s.target(), 2)
	if clone := s.inspect(s.name(2)); clone.Image != template.Image {
		t.Errorf("the clone runs the image %s, the template %s", clone.Image, template.Image)
	}
}

func TestPlainContainersAreCloned(t *testing.T) {
	s := newService(t, 0)
	label := s.project + ".plain"
	config := &container.Config{Image: "workload", Labels: map[string]string{labelProjectOfTests: s.project, label: "yes"}}
	made, err := s.api().ContainerCreate(t.Context(), config, &container.HostConfig{NetworkMode: "default"}, nil, nil, s.project+"-alone")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeLabelled(s, label) })
	if err := s.api().ContainerStart(t.Context(), made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	c, _ := s.connect()
	defer c.Close()
	target := bind(t, c, table("label", label+"=yes"))
	mustSet(t, target, 3)
	c.work.wg.Wait()
	if status := mustStatus(t, target); status.SpecReplicas != 3 || ready(status) != 3 {
		t.Errorf("the status is %+v", status)
	}
	for _, name := range []string{"-alone-hpad-1", "-alone-hpad-2"} {
		if seen := s.inspect(s.project + name); !seen.State.Running {
			t.Errorf("%s is %s", name, seen.State.Status)
		}
	}
	mustSet(t, target, 1)
	c.work.wg.Wait()
	if status := mustStatus(t, target); len(status.Instances) != 1 || status.Instances[0].ID != made.ID {
		t.Errorf("the status is %+v", status)
	}
}

const labelProjectOfTests = "test.project"

func removeLabelled(s *service, label string) {
	list, err := s.api().ContainerList(context.Background(), container.ListOptions{All: true})
	if err != nil {
		s.t.Error(err)
	}
	for _, c := range list {
		if _, ok := c.Labels[label]; ok {
			s.remove(c.ID)
		}
	}
}

func TestWhatCannotBeTwiceIsRefused(t *testing.T) {
	pinned := func(s *service) string { return s.name(1) }
	for name, test := range map[string]struct {
		edit func(*container.Config, *container.HostConfig, *network.NetworkingConfig)
		want string
	}{
		"port": {func(c *container.Config, h *container.HostConfig, _ *network.NetworkingConfig) {
			c.ExposedPorts = nat.PortSet{"80/tcp": {}}
			h.PortBindings = nat.PortMap{"80/tcp": {{HostPort: "8080"}}}
		}, "publishes the fixed port 8080 of the machine"},
		"host": {func(_ *container.Config, h *container.HostConfig, n *network.NetworkingConfig) {
			h.NetworkMode, n.EndpointsConfig = "host", nil
		}, "network_mode: host"},
		"name": {func(c *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) {
			c.Labels[labelNumber] = "7" // so that the name is not the number's
		}, "container_name"},
		"task": {func(c *container.Config, _ *container.HostConfig, _ *network.NetworkingConfig) {
			c.Labels[labelTask] = "t1"
		}, `which the driver "docker-swarm" scales`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, 1, test.edit)
			target := s.target()
			_, err := target.Status(t.Context())
			wantClass(t, err, targets.Invalid)
			if !strings.Contains(fmt.Sprint(err), test.want) || !strings.Contains(fmt.Sprint(err), pinned(s)) {
				t.Errorf("the error is %q", err)
			}
			wantClass(t, target.SetReplicas(t.Context(), targets.Status{}, 2), targets.Invalid)
			if names := s.names(); len(names) != 1 {
				t.Errorf("there are the containers %v", names)
			}
		})
	}
}

func TestStaticAddressIsRefused(t *testing.T) {
	s := newService(t, 0, func(_ *container.Config, h *container.HostConfig, n *network.NetworkingConfig) {
		h.NetworkMode = "static"
		n.EndpointsConfig = map[string]*network.EndpointSettings{"static": {IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: "10.77.0.9"}}}
	})
	_, err := s.api().NetworkCreate(t.Context(), "static", network.CreateOptions{IPAM: &network.IPAM{Config: []network.IPAMConfig{{Subnet: "10.77.0.0/24"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.removeAll()
		_ = s.api().NetworkRemove(context.Background(), "static")
	})
	s.add(1)
	_, err = s.target().Status(t.Context())
	wantClass(t, err, targets.Invalid)
	if !strings.Contains(fmt.Sprint(err), `the static address 10.77.0.9 in the network "static"`) {
		t.Errorf("the error is %q", err)
	}
}

func TestComposeContainersAreNotPlain(t *testing.T) {
	s := newService(t, 1)
	c, _ := s.connect()
	defer c.Close()
	_, err := bind(t, c, table("label", labelProject+"="+s.project)).Status(t.Context())
	wantClass(t, err, targets.Invalid)
	if want := fmt.Sprintf("write project = %q and service = \"web\"", s.project); !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("the error is %q", err)
	}
}

func ports(published string) edits {
	return func(c *container.Config, h *container.HostConfig, _ *network.NetworkingConfig) {
		c.ExposedPorts = nat.PortSet{"80/tcp": {}}
		h.PortBindings = nat.PortMap{"80/tcp": {{HostPort: published}}}
	}
}
