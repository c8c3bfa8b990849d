package procfs

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const statTail = " S 7 42 40 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 1 0 12345 1 2 3\n"

func TestStatIsReadWhateverTheNameOfTheProcess(t *testing.T) {
	want := Stat{
		State: 'S', Parent: 7, Group: 42, Session: 40,
		Self: 2 * time.Second, Children: 500 * time.Millisecond, Start: 123450 * time.Millisecond,
	}
	for _, name := range []string{"a", "", "a b", ") R 1 1 1", "(((", ")", "a\nb", ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 ("} {
		got, err := ParseStat([]byte("42 (" + name + ")" + statTail))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("name %q: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestBrokenStatIsAnError(t *testing.T) {
	for _, text := range []string{
		"", "42 (a", "42 (a)", "42 (a) S 1", "42 (a) S x 42 40 0 -1 4194560 1 2 3 4 150 50 30 20 20 0 1 0 12345",
		"42 (a) S 1 42 40 0 -1 4194560 1 2 3 4 -150 50 30 20 20 0 1 0 12345",
		"42 (a) S 1 42 40 0 -1 4194560 1 2 3 4 18446744073709551615 50 30 20 20 0 1 0 12345",
		"42 (a) S 1 42 40 0 -1 4194560 1 2 3 4 922337203685477580 922337203685477580 30 20 20 0 1 0 12345",
	} {
		if got, err := ParseStat([]byte(text)); err == nil {
			t.Errorf("%q reads as %+v", text, got)
		}
	}
}

func TestEndedProcessesAreGone(t *testing.T) {
	for state, want := range map[byte]bool{'R': false, 'S': false, 'T': false, 'Z': true, 'X': true} {
		if s := (Stat{State: state}); s.Gone() != want {
			t.Errorf("state %c: gone is %v", state, s.Gone())
		}
	}
}

func TestOwnProcessIsRead(t *testing.T) {
	got, err := ReadStat("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if got.Parent != os.Getppid() || got.Start <= 0 {
		t.Errorf("stat is %+v, parent is %d", got, os.Getppid())
	}
	uptime, err := Uptime("/proc")
	if err != nil || uptime < got.Start {
		t.Errorf("up for %v, %v; the process began at %v", uptime, err, got.Start)
	}
	if CPUs("/proc") < 1 {
		t.Error("no processor")
	}
}

func TestCgroupPathIsThatOfTheController(t *testing.T) {
	const text = "9:name=systemd:/a\n4:memory:/m\n3:cpu,cpuacct:/docker/x:y\n2:cpuacctx:/wrong\n0::/unified\n"
	tests := map[string]string{"memory": "/m", "cpuacct": "/docker/x:y", "cpu": "/docker/x:y", "": "/unified", "pids": ""}
	for controller, want := range tests {
		got, ok := CgroupPath([]byte(text), controller)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", controller, got, ok, want)
		}
	}
}

func TestMountinfoIsRead(t *testing.T) {
	const text = `25 1 0:22 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755
26 25 0:23 /docker/a\040b /sys/fs/cgroup/x\134y rw master:1 shared:2 - cgroup cgroup rw,cpu,cpuacct
broken line
27 25 0:24 / /c rw - cgroup2 none rw,nsdelegate
`
	want := []Mount{
		{Root: "/", Point: "/sys/fs/cgroup", Type: "tmpfs", Options: "ro,mode=755"},
		{Root: "/docker/a b", Point: `/sys/fs/cgroup/x\y`, Type: "cgroup", Options: "rw,cpu,cpuacct"},
		{Root: "/", Point: "/c", Type: "cgroup2", Options: "rw,nsdelegate"},
	}
	got := ParseMountinfo([]byte(text))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got[1].HasOption("cpuacct") || got[1].HasOption("acct") {
		t.Error("options are not whole words")
	}
}

func TestUptimeAndProcessorsAreRead(t *testing.T) {
	if got, err := ParseUptime([]byte("12.34 99.00\n")); got != 12340*time.Millisecond || err != nil {
		t.Errorf("uptime is %v, %v", got, err)
	}
	for _, text := range []string{"", "x", "-1 2", "NaN", "1e300"} {
		if got, err := ParseUptime([]byte(text)); err == nil {
			t.Errorf("%q reads as %v", text, got)
		}
	}
	if n := CountCPUs([]byte("cpu  1 2\ncpu0 1\ncpu1 2\ncpux 3\nintr 4")); n != 2 {
		t.Errorf("%d processors, want 2", n)
	}
}

func TestNumbersAreWholeAndFit(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "18446744073709551615": 1<<64 - 1, "0007": 7} {
		if got, ok := ParseUint([]byte(text)); got != want || !ok {
			t.Errorf("%q reads as %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1 ", "18446744073709551616", "99999999999999999999", strings.Repeat("0", 21)} {
		if got, ok := ParseUint([]byte(text)); ok {
			t.Errorf("%q reads as %d", text, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (a)" + statTail))
	f.Add([]byte("42 () R) (" + statTail))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseStat(text)
		if err == nil && (s.Self < 0 || s.Children < 0 || s.Start < 0) {
			t.Errorf("%q reads as %+v", text, s)
		}
	})
}

func FuzzCgroupPath(f *testing.F) {
	f.Add([]byte("4:memory:/m\n0::/u\n"), "memory")
	f.Fuzz(func(t *testing.T, text []byte, controller string) {
		path, ok := CgroupPath(text, controller)
		if ok != strings.HasPrefix(path, "/") {
			t.Errorf("path is %q, %v", path, ok)
		}
	})
}

func FuzzParseMountinfo(f *testing.F) {
	f.Add([]byte(`26 25 0:23 /a\040b /x\134 rw master:1 - cgroup cgroup rw,cpu` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range ParseMountinfo(text) {
			if m.Type == "" || m.Point == "" || m.Root == "" {
				t.Errorf("mount is %+v", m)
			}
		}
	})
}
