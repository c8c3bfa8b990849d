package systemdtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	cgroupRoot  = "/sys/fs/cgroup"
	groupPrefix = "hpad-systemd-"
	// removeTimeout bounds how long the kernel may take to let go of what was killed.
	removeTimeout = 20 * time.Second
)

// groupName is the name of the control groups of the test process with that number.
func groupName(pid int) string { return groupPrefix + strconv.Itoa(pid) }

// hierarchies are the mounted trees of control groups.
func hierarchies() []string {
	var points []string
	for _, pattern := range []string{cgroupRoot, cgroupRoot + "/*"} {
		files, _ := filepath.Glob(pattern + "/cgroup.procs")
		for _, file := range files {
			points = append(points, filepath.Dir(file))
		}
		if len(points) > 0 && pattern == cgroupRoot {
			break // cgroup v2: what is below is groups
		}
	}
	return points
}

// makeGroups makes a group in each hierarchy. One that cannot be made or entered leaves the
// manager in the machine's own group there, where it has nothing to do.
func makeGroups(name string) []string {
	var groups []string
	for _, point := range hierarchies() {
		_ = os.WriteFile(point+"/cgroup.subtree_control", []byte("+cpu +memory +pids"), 0o644)
		group := filepath.Join(point, name)
		if os.Mkdir(group, 0o755) == nil {
			groups = append(groups, group)
		}
	}
	return groups
}

// removeGroups kills all processes of a group and removes it from every hierarchy.
func removeGroups(name string) error {
	deadline := time.Now().Add(removeTimeout)
	for {
		var err error
		for _, point := range hierarchies() {
			err = errors.Join(err, removeGroup(filepath.Join(point, name)))
		}
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// removeGroup kills first: a group can be removed when it has neither processes nor groups.
func removeGroup(group string) error {
	var dirs []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil // gone meanwhile
		}
		dirs = append(dirs, path)
		text, _ := os.ReadFile(path + "/cgroup.procs")
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return nil
	})
	for i := len(dirs) - 1; i >= 0; i-- {
		if e := syscall.Rmdir(dirs[i]); e != nil && !errors.Is(e, syscall.ENOENT) {
			err = errors.Join(err, fmt.Errorf("cannot remove the control group %q: %w", dirs[i], e))
		}
	}
	return err
}

// removeLeftovers removes what tests have left whose process has ended.
func removeLeftovers() {
	for _, point := range hierarchies() {
		groups, _ := filepath.Glob(filepath.Join(point, groupPrefix+"*"))
		for _, group := range groups {
			pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(group), groupPrefix))
			if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				_ = removeGroup(group)
			}
		}
	}
}
