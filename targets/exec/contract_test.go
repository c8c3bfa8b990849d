package exec

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/pooltest"
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

func newSubject(t *testing.T, replicas int32) *targettest.Subject {
	p := pooltest.New(t, replicas)
	p.Write("bin/gate", gate)
	table := func(values map[string]any) options.Table { return options.NewTable(p.Dir, values) }
	return &targettest.Subject{
		Connection: openTable(t, table(map[string]any{"command": []any{"bin/gate", p.Root()}})),
		Tables: []options.Table{
			table(map[string]any{"name": "web"}),
			table(map[string]any{"name": "web", "parameters": map[string]any{"region": "eu"}}),
		},
		Other:   table(map[string]any{"name": "mail"}),
		Spec:    p.Wanted,
		Change:  p.Set,
		Remove:  p.End,
		Restore: func() { p.Add(1) },
		Writes: func() int {
			text, _ := os.ReadFile(filepath.Join(p.Root(), "writes"))
			return strings.Count(string(text), "\n")
		},
		Hang: func() func() {
			p.Write("srv/shut", "")
			return func() { p.Remove("srv/shut") }
		},
		Busy: p.Deploy,
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
