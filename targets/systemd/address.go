package systemd

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

const systemBus = "unix:path=/run/dbus/system_bus_socket"

// address is the socket of the bus: a path, or a name in the abstract namespace after an "@".
func (o *connectionOptions) address() (string, error) {
	text := o.Address
	var variable string
	switch o.Manager {
	case "system":
		variable = "DBUS_SYSTEM_BUS_ADDRESS"
	case "user":
		variable = "DBUS_SESSION_BUS_ADDRESS"
	default:
		return "", options.Errorf("manager", `must be "system" or "user", is %s`, options.Show(o.Manager))
	}
	if text == "" {
		text = os.Getenv(variable)
	}
	if text == "" {
		text = usualAddress(o.Manager)
	}
	socket, ok := socketOf(text)
	if !ok && o.Address == "" {
		return "", options.Errorf("address", "must be set: %s in the environment is no address of a unix socket: %s", variable, options.Show(text))
	}
	if !ok {
		return "", options.Errorf("address", `must be like "unix:path=/run/dbus/system_bus_socket", is %s`, options.Show(text))
	}
	return socket, nil
}

func usualAddress(manager string) string {
	if manager == "system" {
		return systemBus
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = fmt.Sprintf("/run/user/%d", os.Getuid())
	}
	return "unix:path=" + url.PathEscape(dir) + "/bus"
}

// socketOf reads the first address of a list that is a unix socket; values are escaped with %.
func socketOf(list string) (string, bool) {
	for text := range strings.SplitSeq(list, ";") {
		pairs, ok := strings.CutPrefix(text, "unix:")
		if !ok {
			continue
		}
		for pair := range strings.SplitSeq(pairs, ",") {
			key, value, _ := strings.Cut(pair, "=")
			value, err := url.PathUnescape(value)
			switch {
			case err != nil || value == "":
			case key == "path" && filepath.IsAbs(value):
				return realPath(value), true
			case key == "abstract":
				return "@" + value, true
			}
		}
	}
	return "", false
}

// realPath is the one spelling of a socket's path: /var/run and /run are one folder.
func realPath(path string) string {
	path = filepath.Clean(path)
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
