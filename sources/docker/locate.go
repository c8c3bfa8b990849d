package docker

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hpad/hpad/sources/internal/cgroup"
	"github.com/hpad/hpad/sources/internal/procfs"
	"github.com/hpad/hpad/targets"
)

const (
	// idLength is the length of a full container id: 256 random bits in hexadecimal digits. A
	// control group with that in its name is this very container's, and the engine is this
	// machine's; nothing less proves either.
	idLength = 64
	// walkPause is the least time between two searches through all control groups.
	walkPause = 10 * time.Second
	// maxDepth and maxGroups bound such a search.
	maxDepth, maxGroups = 8, 50_000
)

// templates are where engines put a container when they are not told otherwise: Docker with the
// cgroupfs and the systemd driver, Podman with the systemd and the cgroupfs driver.
var templates = []struct{ before, after string }{
	{"/docker/", ""},
	{"/system.slice/docker-", ".scope"},
	{"/machine.slice/libpod-", ".scope"},
	{"/libpod_parent/libpod-", ""},
}

// locator finds the control groups of containers.
type locator struct {
	root, proc string
	detected   bool
	layout     cgroup.Layout
	searched   time.Time
	found      map[string]string
}

// groups are the folders of a container. Memory is empty if the machine does not account for it.
type groups struct{ cpu, memory string }

// find looks for a container: at the usual places, then where its main process is, then
// everywhere. Sure is false if a full search was due and too soon after the last: ask again.
func (l *locator) find(id string, pid int, now time.Time) (g groups, ok, sure bool) {
	if !isID(id) {
		return groups{}, false, true
	}
	if !l.detected {
		l.layout, l.detected = cgroup.Detect(l.root, l.proc), true
	}
	if !l.layout.Present() {
		return groups{}, false, true
	}
	g.cpu = l.near(&l.layout.CPU, id, pid, l.layout.Files.CPU)
	if g.cpu == "" && now.Sub(l.searched) < walkPause {
		return groups{}, false, false
	}
	if g.cpu == "" {
		l.search(now)
		g.cpu = l.near(&l.layout.CPU, id, pid, l.layout.Files.CPU)
	}
	if g.cpu == "" {
		return groups{}, false, true
	}
	g.memory = l.memory(g.cpu, id, pid)
	return g, true, true
}

// memory is the folder in the memory hierarchy: the same as for the CPU, or else found alone.
func (l *locator) memory(cpu, id string, pid int) string {
	h := &l.layout.Memory
	if h.Point == "" {
		return ""
	}
	same := h.Point + strings.TrimPrefix(cpu, l.layout.CPU.Point)
	if exists(same, l.layout.Files.Memory) {
		return same
	}
	return l.near(h, id, pid, l.layout.Files.Memory)
}

// near tries the places that need no search. A folder counts if it has the file.
func (l *locator) near(h *cgroup.Hierarchy, id string, pid int, file string) string {
	for _, t := range templates {
		if dir := h.Point + t.before + id + t.after; exists(dir, file) {
			return dir
		}
	}
	if dir := l.ofProcess(h, id, pid); dir != "" && exists(dir, file) {
		return dir
	}
	if name, ok := l.found[id]; ok && exists(h.Point+name, file) {
		return h.Point + name
	}
	return ""
}

// ofProcess is the container's group above the one its main process is in, if that process is on
// this machine and the container's at all.
func (l *locator) ofProcess(h *cgroup.Hierarchy, id string, pid int) string {
	if pid <= 0 {
		return ""
	}
	text, err := os.ReadFile(l.proc + "/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return ""
	}
	name, ok := procfs.CgroupPath(text, h.Controller)
	if !ok {
		return ""
	}
	if dir, ok := h.Dir(name); ok {
		return upTo(dir, id)
	}
	return ""
}

// started is the time a container began to use CPU, as its main process on this machine proves;
// zero if there is no such proof. What a target says is none: it may know only when an instance
// began to serve, and all CPU time since the real start would seem to have been used since then.
func (l *locator) started(in *targets.Instance, now time.Time) time.Time {
	if l.ofProcess(&l.layout.CPU, in.ContainerID, in.PID) == "" {
		return time.Time{}
	}
	stat, err := procfs.ReadStat(l.proc, in.PID)
	if err != nil {
		return time.Time{}
	}
	uptime, err := procfs.Uptime(l.proc)
	if err != nil {
		return time.Time{}
	}
	return now.Add(stat.Start - uptime)
}

// upTo cuts a path after the element that has the id: a container may divide its own group.
func upTo(dir, id string) string {
	at := strings.Index(dir, id)
	if at < 0 {
		return ""
	}
	if end := strings.IndexByte(dir[at:], '/'); end >= 0 {
		dir = dir[:at+end]
	}
	if strings.Contains(filepath.Base(dir), "conmon") {
		return "" // Podman's watcher of the container, not the container
	}
	return dir
}

// search remembers the containers of the whole CPU hierarchy, whatever parent the engine was told
// to use and however deep a rootless engine sits.
func (l *locator) search(now time.Time) {
	l.searched, l.found = now, map[string]string{}
	point, visited := l.layout.CPU.Point, 0
	// Folders come and go meanwhile; one that cannot be read holds nothing for us.
	_ = filepath.WalkDir(point, func(name string, entry fs.DirEntry, err error) error {
		visited++
		switch {
		case visited > maxGroups:
			return fs.SkipAll
		case err != nil || !entry.IsDir():
			return nil
		}
		below := strings.TrimPrefix(name, point)
		if id, ok := idOf(entry.Name()); ok {
			l.found[id] = below
		}
		if strings.Count(below, "/") >= maxDepth {
			return fs.SkipDir
		}
		return nil
	})
}

// idOf finds the container id in the name of a control group: "<id>", "docker-<id>.scope".
func idOf(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".scope")
	if len(name) < idLength || strings.Contains(name, "conmon") {
		return "", false
	}
	before, id := name[:len(name)-idLength], name[len(name)-idLength:]
	return id, isID(id) && (before == "" || before[len(before)-1] == '-')
}

func isID(id string) bool {
	if len(id) != idLength {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func exists(dir, file string) bool {
	_, err := os.Stat(dir + "/" + file)
	return err == nil
}
