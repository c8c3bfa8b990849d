// Package pooltest is the pools that the README.md of the driver "exec" scales, with its command as
// it stands there, for the tests of who speaks to it.
package pooltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hpad/hpad/targets/internal/readme"
)

// Pools is a folder Dir with the command in bin, and the pools in srv. The one pool is "web".
type Pools struct {
	t   *testing.T
	Dir string
}

// New makes the folder and the pool, whose workers end with the test.
func New(t *testing.T, replicas int32) *Pools {
	t.Helper()
	p := &Pools{t, t.TempDir()}
	p.Write("bin/hpad-pool", readme.Block(t, "../exec/README.md", "sh", "#!/bin/sh\n# hpad-pool FOLDER"))
	p.Add(replicas)
	t.Cleanup(p.End)
	return p
}

// Root is the folder that the command is given.
func (p *Pools) Root() string { return filepath.Join(p.Dir, "srv") }

// Write makes a file that can be run, and the folders above it.
func (p *Pools) Write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// Remove removes a file or a folder.
func (p *Pools) Remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.Dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// Add makes the pool.
func (p *Pools) Add(replicas int32) {
	p.t.Helper()
	p.Write("srv/web/run", "#!/bin/sh\nexec sleep 300\n")
	p.Set(replicas)
}

// Deploy makes the pool busy until end is called.
func (p *Pools) Deploy() (end func()) {
	p.Write("srv/web/deploying", "")
	return func() { p.Remove("srv/web/deploying") }
}

// Wanted is the wanted count.
func (p *Pools) Wanted() int32 {
	replicas, _ := p.wanted()
	return replicas
}

func (p *Pools) wanted() (replicas int32, version string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, "srv/web/wanted"))
	if os.IsNotExist(err) {
		return 0, "0"
	}
	words := strings.Fields(string(text))
	n, err := strconv.Atoi(words[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return int32(n), words[1]
}

// Set runs the command as somebody else would.
func (p *Pools) Set(replicas int32) {
	p.t.Helper()
	_, version := p.wanted()
	cmd := exec.Command(filepath.Join(p.Dir, "bin/hpad-pool"), p.Root())
	cmd.Env = append(os.Environ(), "HPAD_OPERATION=set_replicas", "HPAD_TARGET=web",
		"HPAD_FROM_VERSION="+version, "HPAD_REPLICAS="+strconv.Itoa(int(replicas)))
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Errorf("cannot set: %v: %s", err, out)
	}
}

// End stops the workers and removes the pool, if it is there.
func (p *Pools) End() {
	if _, err := os.Stat(filepath.Join(p.Dir, "srv/web/run")); err == nil {
		p.Set(0)
		p.Remove("srv/web")
	}
}
