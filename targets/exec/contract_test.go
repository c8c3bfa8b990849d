package exec

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/readme"
	"github.com/hpad/hpad/targets/targettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestContract runs the command of the README as it stands there.
func TestContract(t *testing.T) {
	targettest.Run(t, targettest.Harness{New: newSubject, Settle: 20 * time.Second})
}

// gate counts the changes that come to the command, and lets nothing through while it is shut.
const gate = `#!/bin/sh
while [ -e "$1/shut" ]; do sleep 0.02; done
if [ "$HPAD_OPERATION" = set_replicas ]; then echo >>"$1/writes"; fi
exec "${0%/*}/hpad-pool" "$@"
`

// pools is a folder of pools with the README's command.
type pools struct {
	t   *testing.T
	dir string
}

func newPools(t *testing.T) *pools {
	t.Helper()
	p := &pools{t, t.TempDir()}
	p.write("bin/hpad-pool", readme.Block(t, "sh", "#!/bin/sh\n# hpad-pool"))
	p.write("bin/gate", gate)
	return p
}

func (p *pools) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pools) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// add makes the pool "web".
func (p *pools) add(replicas int32) {
	p.t.Helper()
	p.write("srv/web/run", "#!/bin/sh\nexec sleep 300\n")
	p.set(replicas)
}

func (p *pools) wanted() (replicas int32, version string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "srv/web/wanted"))
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

// set runs the command as somebody else would.
func (p *pools) set(replicas int32) {
	p.t.Helper()
	_, version := p.wanted()
	cmd := exec.Command(filepath.Join(p.dir, "bin/hpad-pool"), filepath.Join(p.dir, "srv"))
	cmd.Env = append(os.Environ(), "HPAD_OPERATION=set_replicas", "HPAD_TARGET=web",
		"HPAD_FROM_VERSION="+version, "HPAD_REPLICAS="+strconv.Itoa(int(replicas)))
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Errorf("cannot set: %v: %s", err, out)
	}
}

// end stops the workers and removes the pool, if it is there.
func (p *pools) end() {
	if _, err := os.Stat(filepath.Join(p.dir, "srv/web/run")); err == nil {
		p.set(0)
		p.remove("srv/web")
	}
}

func (p *pools) lines(name string) int {
	text, _ := os.ReadFile(filepath.Join(p.dir, name))
	return strings.Count(string(text), "\n")
}

func (p *pools) table() options.Table {
	return options.NewTable(p.dir, map[string]any{"command": []any{"bin/gate", filepath.Join(p.dir, "srv")}})
}

func newSubject(t *testing.T, replicas int32) *targettest.Subject {
	p := newPools(t)
	p.add(replicas)
	t.Cleanup(p.end)
	table := func(values map[string]any) options.Table { return options.NewTable(p.dir, values) }
	return &targettest.Subject{
		Connection: openTable(t, p.table()),
		Tables: []options.Table{
			table(map[string]any{"name": "web"}),
			table(map[string]any{"name": "web", "parameters": map[string]any{"region": "eu"}}),
		},
		Other:   table(map[string]any{"name": "mail"}),
		Spec:    func() int32 { n, _ := p.wanted(); return n },
		Change:  p.set,
		Remove:  p.end,
		Restore: func() { p.add(1) },
		Writes:  func() int { return p.lines("srv/writes") },
		Hang: func() func() {
			p.write("srv/shut", "")
			return func() { p.remove("srv/shut") }
		},
		Busy: func() func() {
			p.write("srv/web/deploying", "")
			return func() { p.remove("srv/web/deploying") }
		},
	}
}

func openTable(t *testing.T, table options.Table) targets.Connection {
	t.Helper()
	c, err := open(targets.Environment{Log: slog.New(slog.DiscardHandler)}, table)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
