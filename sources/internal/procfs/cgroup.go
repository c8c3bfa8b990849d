package procfs

import (
	"bytes"
	"strings"
)

// Mount is a line of /proc/PID/mountinfo.
type Mount struct {
	// Root is the folder within the file system that is mounted at Point.
	Root, Point string
	// Type is the kind of file system ("cgroup2"), Options those of the file system itself: for a
	// "cgroup", its controllers.
	Type, Options string
}

// HasOption tells whether one of the comma-separated Options is name.
func (m *Mount) HasOption(name string) bool { return hasWord(m.Options, name) }

// ParseMountinfo reads the text of /proc/PID/mountinfo. Lines of another form are left out.
func ParseMountinfo(text []byte) []Mount {
	var mounts []Mount
	for line := range bytes.Lines(text) {
		before, after, ok := strings.Cut(string(bytes.TrimRight(line, "\n")), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(kind) < 3 {
			continue
		}
		mounts = append(mounts, Mount{
			Root: unescape(fields[3]), Point: unescape(fields[4]),
			Type: kind[0], Options: kind[len(kind)-1],
		})
	}
	return mounts
}

// CgroupPath finds the path of a process's cgroup in the text of /proc/PID/cgroup. The controller
// is a name of cgroup v1 ("cpuacct"), or empty for the one hierarchy of v2.
func CgroupPath(text []byte, controller string) (string, bool) {
	for line := range bytes.Lines(text) {
		id, rest, ok := strings.Cut(string(bytes.TrimRight(line, "\n")), ":")
		controllers, path, ok2 := strings.Cut(rest, ":")
		if !ok || !ok2 || !strings.HasPrefix(path, "/") {
			continue
		}
		if controller == "" && id == "0" && controllers == "" ||
			controller != "" && hasWord(controllers, controller) {
			return path, true
		}
	}
	return "", false
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// unescape undoes the kernel's \040 and the like.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if c, ok := octal(text[i:]); ok {
			b.WriteByte(c)
			i += 3
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func octal(text string) (byte, bool) {
	if len(text) < 4 || text[0] != '\\' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(text[1:4]) {
		if c < '0' || c > '7' {
			return 0, false
		}
		n = n*8 + int(c-'0')
	}
	return byte(n), n < 256
}
