package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"

	"github.com/hpad/hpad/internal/dockertest"
)

// TestGettingStarted installs hpad below a folder, as root, and has it scale a service of a swarm.
func TestGettingStarted(t *testing.T) {
	t.Parallel()
	engine := dockertest.Start(t)
	engine.ImportWorkload(t, "shop")
	engine.SwarmInit(t)
	web := shopWeb(t, engine)

	s := newDemonstration(t)
	s.config = filepath.Join(s.dir, "etc/hpad/hpad.toml")
	s.rewrites = append(s.rewrites, "http://127.0.0.1:9090", queue(t, 100), "unix:///run/docker.sock", engine.Host())
	for _, file := range []string{"hpad.service", "hpad.sysusers", "hpad.service.d/docker.conf", "hpad.service.d/process.conf"} {
		s.take("deploy/systemd/" + file)
	}

	r := &reader{sandbox: s, files: []string{"etc/hpad/hpad.toml", "etc/hpad/workloads.d/web.toml"}}
	var demo *process
	r.otherwise = map[string]otherwise{
		"make run": {"its last command, once the program is built", func() { demo = s.makeRun() }},
		"bin/hpad describe demo --config config.example.toml": {"Ctrl-C follows", func() {
			s.run("bin/hpad describe demo --config config.example.toml")
			s.interrupt(demo)
			if left := s.processes(); len(left) > 0 {
				t.Errorf("Ctrl-C leaves %q", left)
			}
		}},
		"systemd-sysusers": {"for this folder instead of the machine", func() { s.run("systemd-sysusers --root=" + s.dir) }},
		"install -d -m 750 -g hpad /etc/hpad /etc/hpad/workloads.d": {"the group is of this folder", func() {
			s.run("install -d -m 750 -g " + s.group("hpad") + " /etc/hpad /etc/hpad/workloads.d")
		}},
		"systemctl daemon-reload": {"there is no systemd: the unit is verified", s.verifyUnits},
		"systemctl enable --now hpad": {"there is no systemd: enabled below the folder, started as the unit says", func() {
			s.run("systemctl --root=" + s.dir + " enable hpad")
			s.run(`printf '[daemon]\nlisten = "127.0.0.1:9872"\n' >> /etc/hpad/hpad.toml`)
			r.daemon = s.startDaemon(s.unit("ExecStart"))
		}},
		"hpad reload": {"after dry_run has been removed", func() {
			if replicas(t, engine, web) != 2 {
				t.Error("a dry run changes the service")
			}
			s.run("sed -i '/^dry_run = true$/d' /etc/hpad/workloads.d/web.toml")
			s.run("hpad reload")
			s.run(s.unit("ExecReload"))
		}},
	}
	r.follow("docs/getting-started.md")
	s.within(patience, func() string { return "4 replicas for 100 messages\n" + r.daemon.out.String() }, func() bool {
		return replicas(t, engine, web) == 4
	})
	s.interrupt(r.daemon)
}

// shopWeb makes the service that the document scales, and waits until it runs.
func shopWeb(t *testing.T, engine *dockertest.Engine) string {
	t.Helper()
	two := uint64(2)
	spec := swarm.ServiceSpec{Annotations: swarm.Annotations{Name: "shop_web"}}
	spec.TaskTemplate.ContainerSpec = &swarm.ContainerSpec{Image: "shop"}
	spec.TaskTemplate.Resources = &swarm.ResourceRequirements{Reservations: &swarm.Resources{NanoCPUs: 1e8}}
	spec.Mode.Replicated = &swarm.ReplicatedService{Replicas: &two}
	made, err := engine.Client().ServiceCreate(t.Context(), spec, swarm.ServiceCreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(patience)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := engine.Client().ServiceList(t.Context(), swarm.ServiceListOptions{Status: true})
		if err == nil && len(list) == 1 && list[0].ServiceStatus.RunningTasks == two {
			return made.ID
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the service does not run: %v", err)
		}
	}
}

func replicas(t *testing.T, engine *dockertest.Engine, service string) uint64 {
	t.Helper()
	s, _, err := engine.Client().ServiceInspectWithRaw(t.Context(), service, swarm.ServiceInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return *s.Spec.Mode.Replicated.Replicas
}

// queue answers every query as a Prometheus would that knows so many messages for web.
func queue(t *testing.T, messages int) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[`+
			`{"metric":{"queue":"web"},"value":[%d,"%d"]},{"metric":{"queue":"mail"},"value":[%[1]d,"7"]}]}}`,
			time.Now().Unix(), messages)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// group is the number of a group that systemd-sysusers made below the sandbox.
func (s *sandbox) group(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "etc/group"))
	s.must(err)
	match := regexp.MustCompile(`(?m)^` + name + `:[^:]*:(\d+):`).FindSubmatch(text)
	if match == nil {
		s.Fatalf("there is no group %q:\n%s", name, text)
	}
	return string(match[1])
}

// verifyUnits has systemd read the installed unit, by itself and with each of its drop-ins.
func (s *sandbox) verifyUnits() {
	s.Helper()
	s.run("systemd-analyze verify /usr/lib/systemd/system/hpad.service")
	s.run("cp -r deploy/systemd/hpad.service.d /usr/lib/systemd/system/ && systemd-analyze verify /usr/lib/systemd/system/hpad.service")
}

// unit is the value of a key of the installed unit.
func (s *sandbox) unit(key string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "usr/lib/systemd/system/hpad.service"))
	s.must(err)
	_, value, found := strings.Cut(string(text), "\n"+key+"=")
	if !found {
		s.Fatalf("the unit has no %s", key)
	}
	value, _, _ = strings.Cut(value, "\n")
	// The paths in it were rewritten when it was taken; %t is the runtime folder of the system.
	return strings.NewReplacer(s.dir, "", "%t", "/run").Replace(value)
}
