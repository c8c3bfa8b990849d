package config

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
)

// Bounds of the sync period. CPU usage is an average over it: over less than a second the counters
// are too coarse, over many minutes it says little of now, and sources forget where they began.
const (
	shortestSync = time.Second
	longestSync  = 5 * time.Minute
)

// underSystemd takes the folders systemd made for the unit as defaults.
func (k daemonKeys) underSystemd() daemonKeys {
	if dir := firstOf(os.Getenv("RUNTIME_DIRECTORY")); dir != "" {
		k.Socket = options.Path(filepath.Join(dir, "hpad.sock"))
	}
	if dir := firstOf(os.Getenv("STATE_DIRECTORY")); dir != "" {
		k.StateDir = options.Path(dir)
	}
	return k
}

// firstOf a list as systemd separates them.
func firstOf(list string) string {
	first, _, _ := strings.Cut(list, ":")
	return first
}

// daemon makes the [daemon] table.
func (l *loader) daemon(s *scope, values map[string]any) Daemon {
	keys := defaultDaemon().underSystemd()
	s.add("daemon", options.Decode(s.dir, values, &keys))
	if keys.SyncPeriod < shortestSync || keys.SyncPeriod > longestSync {
		s.failf("daemon.sync_period", "must be %s to %s, is %s",
			options.Duration(shortestSync), options.Duration(longestSync), options.Duration(keys.SyncPeriod))
	}
	if keys.Tolerance < 0 {
		s.failf("daemon.tolerance", "must be >= 0, is %s", options.Show(keys.Tolerance))
	}
	for key, d := range map[string]time.Duration{
		"downscale_stabilization":   keys.DownscaleStabilization,
		"cpu_initialization_period": keys.CPUInitializationPeriod,
		"initial_readiness_delay":   keys.InitialReadinessDelay,
	} {
		if d < 0 {
			s.failf("daemon."+key, "must be >= 0s, is %s", options.Duration(d))
		}
	}
	checkListen(s, keys.Listen)
	return Daemon{
		SyncPeriod: keys.SyncPeriod,
		Settings: algorithm.Settings{
			Tolerance:               keys.Tolerance,
			DownscaleStabilization:  keys.DownscaleStabilization,
			CPUInitializationPeriod: keys.CPUInitializationPeriod,
			InitialReadinessDelay:   keys.InitialReadinessDelay,
		},
		Listen:        keys.Listen,
		WebConfigFile: string(keys.WebConfigFile),
		Socket:        string(keys.Socket),
		StateDir:      string(keys.StateDir),
	}
}

func checkListen(s *scope, address string) {
	if address == "" {
		return
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		s.failf("daemon.listen", `must be an address such as "127.0.0.1:9872", is %q`, address)
	}
}
