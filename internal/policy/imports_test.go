package policy

import (
	"slices"
	"strings"
	"testing"
)

// allowed is who may import whom inside hpad; the first entry that matches a folder counts. It is
// policy: a change that does not fit is wrong until the house itself is changed.
var allowed = []struct {
	dir  string   // this folder and those below it
	may  []string // folders of hpad, with those below them
	note string
}{
	{"algorithm/scenario", []string{"algorithm"}, "scenarios are run through the decision alone"},
	{"algorithm", nil, "the decision depends on nothing of hpad"},
	{"internal/options", nil, "every driver depends on it"},
	{"internal/httpclient", []string{"internal/options"}, "drivers of both contracts ask over HTTP"},
	{"internal/command", []string{"internal/options"}, "drivers of both contracts run commands"},
	{"internal/dockertest", nil, "tests of any driver use it"},
	{"internal/systemdtest", nil, "tests of any driver use it"},
	{"sources/sourcetest", []string{"sources", "targets", "algorithm", "internal/options"}, "a kit knows its contract"},
	{"sources", []string{"sources/internal", "algorithm", "internal/options", "targets", "internal/httpclient", "internal/command"}, "a source knows its contract and instances"},
	{"targets", []string{"targets/internal", "algorithm", "internal/options", "internal/httpclient", "internal/command"}, "a target knows its contract"},
	{"daemon/api", nil, "what goes over HTTP is plain data"},
	{"daemon/config", []string{"algorithm", "internal/options"}, "the file does not know drivers"},
	{"daemon", []string{"algorithm", "daemon", "sources", "targets", "internal/options"}, "the loop knows contracts, no driver"},
	{"cmd/hpad/demo", nil, "the demonstration is a program of its own"},
	{"cmd/hpad", []string{"algorithm", "daemon", "sources", "targets", "internal/options", "cmd/hpad/demo"}, ""},
	{"internal/loadtest", []string{"algorithm", "daemon", "sources", "targets", "internal/options"}, ""},
	{"e2e", []string{"daemon/api"}, "it sees what an operator sees"},
	{"internal/policy", nil, ""},
}

// contracts are the packages that drivers stand below; a driver imports its own contract, and no
// other driver.
var contracts = []string{"sources", "targets"}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	for _, p := range packages(t, false) {
		i := slices.IndexFunc(allowed, func(rule struct {
			dir  string
			may  []string
			note string
		}) bool {
			return below(p.dir, rule.dir)
		})
		if i < 0 {
			t.Errorf("%s: no rule says what it may import", p.dir)
			continue
		}
		for path, file := range p.imports {
			imported, ours := strings.CutPrefix(path, module+"/")
			if !ours || imported == p.dir || isContractOf(imported, p.dir) {
				continue
			}
			if isDriver(imported) && p.dir != "cmd/hpad" {
				t.Errorf("%s/%s imports the driver %s; only cmd/hpad may", p.dir, file, imported)
				continue
			}
			if !slices.ContainsFunc(allowed[i].may, func(dir string) bool { return below(imported, dir) }) {
				t.Errorf("%s/%s imports %s: %s", p.dir, file, imported, allowed[i].note)
			}
		}
	}
}

func isContractOf(imported, dir string) bool {
	return slices.Contains(contracts, imported) && strings.HasPrefix(dir, imported+"/")
}

// isDriver tells whether a folder holds a driver: all folders of a contract but its kit and what
// its drivers share.
func isDriver(dir string) bool {
	contract, name, found := strings.Cut(dir, "/")
	return found && slices.Contains(contracts, contract) &&
		name != "sourcetest" && name != "targettest" && !strings.HasPrefix(name, "internal/")
}

func TestOnlyOneFileNamesDrivers(t *testing.T) {
	for _, p := range packages(t, false) {
		for path, file := range p.imports {
			imported, ours := strings.CutPrefix(path, module+"/")
			if ours && isDriver(imported) && imported != p.dir && p.dir+"/"+file != "cmd/hpad/drivers.go" {
				t.Errorf("%s/%s names the driver %s; drivers are listed in cmd/hpad/drivers.go", p.dir, file, imported)
			}
		}
	}
}

// pure is all that package algorithm may import: nothing that does I/O or reads a clock.
var pure = []string{"cmp", "errors", "fmt", "math", "slices", "strconv", "strings", "time"}

func TestTheDecisionIsPure(t *testing.T) {
	for _, p := range packages(t, false) {
		if p.dir != "algorithm" {
			continue
		}
		for path, file := range p.imports {
			if !slices.Contains(pure, path) {
				t.Errorf("algorithm/%s imports %s", file, path)
			}
		}
	}
}

// fenced are modules that only some folders may import, so that a change of them touches
// nothing else.
var fenced = map[string][]string{
	"github.com/docker/docker":     {"sources/docker", "targets/docker", "targets/dockerswarm", "targets/internal/dockerapi", "internal/dockertest", "e2e"},
	"github.com/BurntSushi/toml":   {"daemon/config", "sources/sourcetest"},
	"github.com/spf13/cobra":       {"cmd/hpad"},
	"github.com/coreos/go-systemd": {"daemon"},
	"github.com/godbus/dbus":       {"targets/systemd"},
}

func TestLibrariesStayBehindTheirFence(t *testing.T) {
	for _, p := range packages(t, false) {
		for path, file := range p.imports {
			for library, dirs := range fenced {
				if below(path, library) && !slices.ContainsFunc(dirs, func(dir string) bool { return below(p.dir, dir) }) {
					t.Errorf("%s/%s imports %s, which belongs to %s", p.dir, file, path, strings.Join(dirs, ", "))
				}
			}
		}
	}
}
