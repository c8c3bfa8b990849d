package cgroup

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hpad/hpad/sources/internal/procfs"
)

// Hierarchy is a mounted tree of control groups.
type Hierarchy struct {
	// Point is where it is mounted; empty if it is not.
	Point string
	// Root is the control group that is mounted there: "/", unless this process sees a part only.
	Root string
	// Controller is the name in /proc/PID/cgroup; empty for cgroup v2.
	Controller string
}

// Layout says where this machine has the counters.
type Layout struct {
	CPU, Memory Hierarchy
	Files       Names
	// beside is a cgroup v2 hierarchy without controllers beside those of v1.
	beside Hierarchy
}

// Names are the files of a control group, and how to read them.
type Names struct {
	CPU      string
	cpuField string // empty: the file is one number
	cpuUnit  time.Duration

	Memory       string
	memoryStat   string
	inactiveFile string
}

var (
	namesV1 = Names{
		CPU: "cpuacct.usage", cpuUnit: time.Nanosecond,
		Memory: "memory.usage_in_bytes", memoryStat: "memory.stat", inactiveFile: "total_inactive_file",
	}
	namesV2 = Names{
		CPU: "cpu.stat", cpuField: "usage_usec", cpuUnit: time.Microsecond,
		Memory: "memory.current", memoryStat: "memory.stat", inactiveFile: "inactive_file",
	}
)

// Present tells whether containers can be found at all.
func (l *Layout) Present() bool { return l.CPU.Point != "" }

// Detect finds the hierarchies below root. The mounts of this process say what they are; where
// there are none below root (a copy, or a bind mount of a part) the folders do.
func Detect(root, proc string) Layout {
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
			return Layout{CPU: h, Memory: h, Files: namesV2}
		}
	}
	l := Layout{
		CPU:    legacy(root, mounts, "cpuacct"),
		Memory: legacy(root, mounts, "memory"),
		Files:  namesV1,
	}
	for _, h := range unified(root, mounts) {
		if exists(h.Point + "/cgroup.controllers") {
			l.beside = h
			break
		}
	}
	return l
}

// Hybrid is the layout in which the CPU time is read from the v2 hierarchy that systemd keeps beside
// those of v1: every group has that counter there, whatever is accounted for. False if there is none.
func (l *Layout) Hybrid() (Layout, bool) {
	h := *l
	h.CPU = l.beside
	h.Files.CPU, h.Files.cpuField, h.Files.cpuUnit = namesV2.CPU, namesV2.cpuField, namesV2.cpuUnit
	return h, h.Present()
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// unified are the candidates for a cgroup v2 hierarchy. A machine with v1 often has one without
// controllers beside it.
func unified(root string, mounts []procfs.Mount) []Hierarchy {
	all := []Hierarchy{}
	for _, m := range mounts {
		if m.Type == "cgroup2" {
			all = append(all, Hierarchy{Point: m.Point, Root: m.Root})
		}
	}
	return append(all, Hierarchy{Point: root, Root: "/"}, Hierarchy{Point: root + "/unified", Root: "/"})
}

func (h *Hierarchy) controls(controller string) bool {
	text, err := os.ReadFile(h.Point + "/cgroup.controllers")
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
func legacy(root string, mounts []procfs.Mount, controller string) Hierarchy {
	for _, m := range mounts {
		if m.Type == "cgroup" && m.HasOption(controller) {
			return Hierarchy{Point: m.Point, Root: m.Root, Controller: controller}
		}
	}
	for _, folder := range []string{controller, "cpu," + controller, controller + ",cpu"} {
		if point := root + "/" + folder; isDir(point) {
			return Hierarchy{Point: point, Root: "/", Controller: controller}
		}
	}
	return Hierarchy{}
}

func isDir(name string) bool {
	stat, err := os.Stat(name)
	return err == nil && stat.IsDir()
}

// Dir is the folder of the control group that /proc/PID/cgroup calls name. Both the name and the
// mount's root are seen from this process's own namespace; a name outside of what is mounted
// is tried below the mount as it is.
func (h *Hierarchy) Dir(name string) (string, bool) {
	if h.Root != "/" {
		if rest, ok := strings.CutPrefix(name, h.Root); ok && (rest == "" || rest[0] == '/') {
			name = rest
		}
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." {
			return "", false
		}
	}
	return h.Point + path.Clean("/"+name), true
}
