package config

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
)

// referenceFile is made from the tables of keys; "make generate" writes it.
const referenceFile = "../../docs/configuration.md"

func TestTheConfigurationReferenceIsUpToDate(t *testing.T) {
	got := configurationReference(t)
	if os.Getenv("HPAD_UPDATE") == "1" {
		if err := os.WriteFile(referenceFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/configuration.md is old, run \"make generate\" (-file +now):\n%s", diff)
	}
}

func configurationReference(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString(strings.TrimSpace(referenceHead) + "\n")
	for _, section := range []struct {
		title, text string
		table       any
	}{
		{"## The main file", "", mainKeys{}},
		{"## [daemon]", "", defaultDaemon()},
		{"## [sources.NAME] and [targets.NAME]", driverText, driverKeys{}},
		{"## [[workload]]", "", defaultWorkload()},
		{"## [[workload.metric]]", metricText, defaultMetric()},
		{"## [workload.behavior.scale_up] and [workload.behavior.scale_down]", "", rulesKeys{}},
	} {
		out.WriteString("\n")
		title := section.title
		if section.text != "" {
			title += "\n\n" + section.text
		}
		if err := options.Reference(&out, title, section.table); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

const referenceHead = `
# Configuration

<!-- Written by "make generate" from the tables in daemon/config/keys.go; do not edit. -->

hpad reads one main file, ` + "`/etc/hpad/hpad.toml`" + ` unless ` + "`--config`" + ` names another, in TOML. Keys it does not know
are errors. ` + "`hpad check`" + ` tells all problems at once, each with file and line; a reload with problems
changes nothing.

- Durations are strings: ` + "`\"15s\"`, `\"1h30m\"`, `\"1d\"`" + ` (units ms, s, m, h, d, w, y).
- Quantities are numbers or strings as in Kubernetes: ` + "`30`, `0.5`, `\"250m\"`, `\"512Mi\"`" + `. They are held in
  thousandths; what is finer is rounded up.
- Paths are relative to the folder of the file they stand in.
- Secrets do not stand in the configuration. Keys that end in ` + "`_file`" + ` name the file that holds one; a path
  may begin with ` + "`${CREDENTIALS_DIRECTORY}`" + ` for a systemd credential. The file is read at each use.
- Tables may be written in any of TOML's ways: ` + "`target = { via = \"swarm\" }`" + ` and a table
  ` + "`[workload.target]`" + ` mean the same.
`

const driverText = `The name is the operator's: workloads refer to it, logs and metrics show it. A driver that needs no
options needs no table either: workloads may name the driver itself.`

const metricText = `Exactly one of value, average_value and average_utilization is given.`
