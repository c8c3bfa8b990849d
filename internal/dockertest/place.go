package dockertest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// prefix of the directories of engines. /tmp and not TMPDIR: the path of a unix socket, of which
// the engine makes some below its directory, has at most 107 characters.
const prefix = "/tmp/hpad-docker-"

// removeTimeout bounds how long removal waits for the kernel to let go of mounts and groups.
const removeTimeout = 20 * time.Second

// place is the directory and the control groups of an engine. A locked file tells its leftovers
// from those in use.
type place struct {
	dir  string
	lock *os.File
}

func newPlace() (*place, error) {
	dir, err := os.MkdirTemp(filepath.Dir(prefix), filepath.Base(prefix))
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir}
	if err := p.prepare(); err != nil {
		return nil, errors.Join(err, p.remove())
	}
	return p, nil
}

// prepare locks the directory. The lock gets its name when it is held already, so that nobody ever
// sees an unlocked lock of a living engine. The empty configuration keeps dockerd from reading
// the machine's.
func (p *place) prepare() error {
	if err := os.WriteFile(p.path("config.json"), []byte("{}"), 0o600); err != nil {
		return err
	}
	var err error
	if p.lock, err = os.Create(p.path("lock.new")); err != nil {
		return err
	}
	if err := syscall.Flock(int(p.lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("cannot lock %q: %w", p.lock.Name(), err)
	}
	return os.Rename(p.path("lock.new"), p.path("lock"))
}

func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

// logTail is the end of what dockerd said.
func (p *place) logTail() string {
	text, err := os.ReadFile(p.path("log"))
	if err != nil {
		return ""
	}
	return string(text[max(0, len(text)-4000):])
}

// remove waits for the kernel to finish with the namespaces, which takes a moment after the last
// process has gone.
func (p *place) remove() error {
	deadline := time.Now().Add(removeTimeout)
	for {
		err := errors.Join(removeCgroups(p.name()), os.RemoveAll(p.dir))
		if err == nil || time.Now().After(deadline) {
			if p.lock != nil {
				_ = p.lock.Close()
			}
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// removeLeftovers removes what killed tests have left: directories whose lock nobody holds. What
// cannot be removed is left to the next one.
func removeLeftovers() {
	locks, _ := filepath.Glob(prefix + "*/lock")
	for _, path := range locks {
		lock, err := os.Open(path)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			p := &place{dir: filepath.Dir(path), lock: lock}
			_ = p.remove()
			continue
		}
		_ = lock.Close()
	}
}

// removeCgroups removes the group called name from every hierarchy of control groups.
func removeCgroups(name string) error {
	var all error
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		roots, _ := filepath.Glob(pattern + name)
		for _, root := range roots {
			all = errors.Join(all, removeCgroup(root))
		}
	}
	return all
}

// removeCgroup removes a group and those below it: groups are removed as directories, their files
// go by themselves.
func removeCgroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if err := removeCgroup(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("cannot remove the control group %q: %w", dir, err)
	}
	return nil
}
