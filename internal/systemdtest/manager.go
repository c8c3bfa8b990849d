// Package systemdtest runs a systemd of its own for tests: a real user manager with a message bus,
// beside whatever runs the machine. Its runtime directory, units and control groups are its own, and
// it sees an empty /run. It needs root.
package systemdtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startTimeout bounds how long the manager may take until it is on its bus.
const startTimeout = 20 * time.Second

// programs are what a manager of its own needs.
var programs = []string{"/usr/lib/systemd/systemd", "dbus-daemon", "systemctl", "busctl", "systemd-notify", "unshare", "mount"}

// Manager is a running user manager. Its methods fail the test that calls them.
type Manager struct {
	dir   string
	group string
	ended chan struct{}
}

// unavailable says why this machine cannot run a manager.
type unavailable struct{ reason string }

func (u *unavailable) Error() string { return "cannot run a systemd here: " + u.reason }

func available() error {
	if os.Geteuid() != 0 {
		return &unavailable{"not root"}
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return &unavailable{filepath.Base(program) + " is not installed"}
		}
	}
	if len(hierarchies()) == 0 {
		return &unavailable{"there are no control groups below " + cgroupRoot}
	}
	return nil
}

// baseUnits make the least system that has a bus.
var baseUnits = map[string]string{
	"default.target":  "[Unit]\nDefaultDependencies=no\nWants=dbus.socket dbus.service\n",
	"basic.target":    "[Unit]\nDefaultDependencies=no\n",
	"shutdown.target": "[Unit]\nDefaultDependencies=no\n",
	"dbus.socket":     "[Unit]\nDefaultDependencies=no\n[Socket]\nListenStream=%t/bus\n",
	"dbus.service": "[Unit]\nDefaultDependencies=no\nRequires=dbus.socket\n[Service]\nType=notify\n" +
		"ExecStart=/usr/bin/dbus-daemon --session --address=systemd: --nofork --nopidfile --systemd-activation\n",
}

// script enters the control groups, hides the machine's /run and becomes the manager. A manager in
// the machine's own group would move everything that is there.
const script = `
for group in $GROUPS_TO_ENTER; do echo $$ > "$group/cgroup.procs"; done 2>/dev/null
unset GROUPS_TO_ENTER
if grep -E '^[0-9]+:(name=systemd)?:/$' /proc/self/cgroup; then echo cannot enter a control group; exit 1; fi
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec /usr/lib/systemd/systemd --user
`

func launch() (*Manager, error) {
	if err := available(); err != nil {
		return nil, err
	}
	removeLeftovers()
	dir, err := os.MkdirTemp("/tmp", "hpad-systemd-") // the path of a socket must be short
	if err != nil {
		return nil, err
	}
	m := &Manager{dir: dir, group: groupName(os.Getpid()), ended: make(chan struct{})}
	if err := m.start(); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *Manager) start() error {
	for _, dir := range []string{m.path("run"), m.path("units")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	for name, text := range baseUnits {
		if err := os.WriteFile(m.path("units", name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	groups := makeGroups(m.group)
	log, err := os.Create(m.path("log"))
	if err != nil {
		return err
	}
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", script)
	cmd.Env = append(m.environment(), "GROUPS_TO_ENTER="+strings.Join(groups, " "))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel kills the child when the thread that made it ends
		defer close(m.ended)
		defer log.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	return m.await()
}

// await waits until the manager is on its bus.
func (m *Manager) await() error {
	deadline := time.Now().Add(startTimeout)
	for {
		out, err := m.command("busctl", "--address="+m.Bus(), "status", "org.freedesktop.systemd1").CombinedOutput()
		if err == nil {
			return nil
		}
		select {
		case <-m.ended:
			return fmt.Errorf("the manager has ended: %s", m.log())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the manager is not on its bus after %v: %s %s", startTimeout, out, m.log())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (m *Manager) log() string {
	text, _ := os.ReadFile(m.path("log"))
	return string(text)
}

func (m *Manager) path(elements ...string) string {
	return filepath.Join(append([]string{m.dir}, elements...)...)
}

func (m *Manager) environment() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + m.dir, "XDG_RUNTIME_DIR=" + m.path("run"), "SYSTEMD_UNIT_PATH=" + m.path("units"),
	}
}

func (m *Manager) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = m.environment()
	return cmd
}

// Bus is the address of the manager's bus.
func (m *Manager) Bus() string { return "unix:path=" + m.path("run", "bus") }

// Dir is a folder that services may use; its path has no blanks.
func (m *Manager) Dir() string { return m.dir }

// Systemctl runs systemctl on the manager and returns what it prints.
func (m *Manager) Systemctl(t testing.TB, args ...string) string {
	t.Helper()
	var failure bytes.Buffer
	cmd := m.command("systemctl", append([]string{"--user"}, args...)...)
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("systemctl %s: %v: %s", strings.Join(args, " "), err, failure.String())
	}
	return string(out)
}

// Write writes a unit, or removes it if text is empty, and has the manager read it.
func (m *Manager) Write(t testing.TB, name, text string) {
	t.Helper()
	err := os.Remove(m.path("units", name))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if text != "" {
		err = errors.Join(err, os.WriteFile(m.path("units", name), []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Systemctl(t, "daemon-reload")
}

// close kills everything that the manager has started, and the manager.
func (m *Manager) close() error {
	err := removeGroups(m.group)
	return errors.Join(err, os.RemoveAll(m.dir))
}
