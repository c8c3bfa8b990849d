package main

import (
	"log/slog"

	"github.com/hpad/hpad/daemon"
	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// loadConfig reads a configuration for the built-in drivers.
func loadConfig(file string) (*config.Config, config.Problems) {
	d := drivers()
	return config.Load(file, config.Known{
		Sources: sources.Registry(d.Sources).Names(),
		Targets: targets.Registry(d.Targets).Names(),
	})
}

// openConfig reads a configuration and opens what it names, offline. If there are problems, the
// drivers' own among them, nothing is open.
func openConfig(file string, log *slog.Logger) (*config.Config, *daemon.Set, config.Problems) {
	cfg, problems := loadConfig(file)
	set, more := daemon.Build(cfg, drivers(), daemon.Environment{Log: log})
	problems = daemon.Merge(problems, more)
	if len(problems) > 0 && set != nil {
		// The problems are what the user can act upon; a failed release adds nothing to them.
		_ = set.Close()
		set = nil
	}
	return cfg, set, problems
}
