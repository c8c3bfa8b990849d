package docker

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hpad/hpad/sources/internal/procfs"
)

// hierarchy is a mounted tree of control groups.
type hierarchy struct {
	// point is where it is mounted; empty if it is not.
	point string
	// root is the control group that is mounted there: "/", unless this process sees a part only.
	root string
	// controller is the name in /proc/PID/cgroup; empty for cgroup v2.
	controller string
}

// layout says where this machine has the counters.
type layout struct {
	cpu, memory hierarchy
	files       names
}

// names are the files of a control group, and how to read them.
type names struct {
	cpu      string
	cpuField string // empty: the file is one number
	cpuUnit  time.Duration

	memory       string
	memoryStat   string
	inactiveFile string
}

var (
	namesV1 = names{
		cpu: "cpuacct.usage", cpuUnit: time.Nanosecond,
		memory: "memory.usage_in_bytes", memoryStat: "memory.stat", inactiveFile: "total_inactive_file",
	}
	namesV2 = names{
		cpu: "cpu.stat", cpuField: "usage_usec", cpuUnit: time.Microsecond,
		memory: "memory.current", memoryStat: "memory.stat", inactiveFile: "inactive_file",
	}
)

// present tells whether containers can be found at all.
func (l *layout) present() bool { return l.cpu.point != "" }

// detect finds the hierarchies below root. The mounts of this process say what they are; where
// there are none below root (a copy, or a bind mount of a part) the folders do.
func detect(root, proc string) layout {
	root = filepath.Clean(root)
	text, _ := os.ReadFile(proc + "/self/mountinfo")
	var mounts []procfs.Mount
	for _, m := range procfs.ParseMountinfo(text) {
		if m.Point == root || strings.HasPrefix(m.Point, root+"/") {
			mounts = append(mounts, m)
		}
	}
	for _, h := range unified(root, mounts) {
		if h.controls("cpu") && h.controls("memory") {
			return layout{cpu: h, memory: h, files: namesV2}
		}
	}
	return layout{
		cpu:    legacy(root, mounts, "cpuacct"),
		memory: legacy(root, mounts, "memory"),
		files:  namesV1,
	}
}

// unified are the candidates for a cgroup v2 hierarchy. A machine with v1 often has one without
// controllers beside it.
func unified(root string, mounts []procfs.Mount) []hierarchy {
	all := []hierarchy{}
	for _, m := range mounts {
		if m.Type == "cgroup2" {
			all = append(all, hierarchy{point: m.Point, root: m.Root})
		}
	}
	return append(all, hierarchy{point: root, root: "/"}, hierarchy{point: root + "/unified", root: "/"})
}

func (h *hierarchy) controls(controller string) bool {
	text, err := os.ReadFile(h.point + "/cgroup.controllers")
	if err != nil {
		return false
	}
	for _, word := range bytes.Fields(text) {
		if string(word) == controller {
			return true
		}
	}
	return false
}

// legacy finds the cgroup v1 hierarchy of a controller.
func legacy(root string, mounts []procfs.Mount, controller string) hierarchy {
	for _, m := range mounts {
		if m.Type == "cgroup" && m.HasOption(controller) {
			return hierarchy{point: m.Point, root: m.Root, controller: controller}
		}
	}
	for _, folder := range []string{controller, "cpu," + controller, controller + ",cpu"} {
		if point := root + "/" + folder; isDir(point) {
			return hierarchy{point: point, root: "/", controller: controller}
		}
	}
	return hierarchy{}
}

func isDir(name string) bool {
	stat, err := os.Stat(name)
	return err == nil && stat.IsDir()
}

// dir is the folder of the control group that /proc/PID/cgroup calls name. Both the name and the
// mount's root are seen from this process's own namespace; a name outside of what is mounted
// is tried below the mount as it is.
func (h *hierarchy) dir(name string) (string, bool) {
	if h.root != "/" {
		if rest, ok := strings.CutPrefix(name, h.root); ok && (rest == "" || rest[0] == '/') {
			name = rest
		}
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." {
			return "", false
		}
	}
	return h.point + path.Clean("/"+name), true
}
