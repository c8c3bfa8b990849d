package dockertest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// searchPath holds the system's programs, whatever PATH the test runs with.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Unavailable says why this machine cannot run an engine.
type Unavailable struct{ Reason string }

func (u *Unavailable) Error() string { return "cannot run a Docker engine here: " + u.Reason }

func available() error {
	if os.Geteuid() != 0 {
		return &Unavailable{"not root"}
	}
	for _, program := range []string{"dockerd", "containerd", "runc", "iptables", "ip", "nsenter", "mount"} {
		if lookPath(program) == "" {
			return &Unavailable{program + " is not installed"}
		}
	}
	return nil
}

func lookPath(program string) string {
	for _, dir := range strings.Split(searchPath, ":") {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	return ""
}

// skipOrFail ends a test that has no engine: a machine that cannot run one is lacking it, anything
// else is a failure.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	var u *Unavailable
	if errors.As(err, &u) {
		Lacking(t, u.Error())
	}
	t.Fatal(err)
}

// Lacking skips a test for want of something this machine could have, or fails it on one that
// promised to run everything.
func Lacking(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" || os.Getenv("HPAD_REQUIRE_ALL") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
