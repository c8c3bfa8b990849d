package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hpad/hpad/daemon"
	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// checkWorkload refuses a workload that the configuration could not take in. Other problems of
// the configuration are not its business.
func checkWorkload(text, mainFile string, o autoscaleOptions) error {
	main, _ := loadConfig(mainFile)
	main.Workloads = slices.DeleteFunc(main.Workloads, func(w config.Workload) bool {
		return o.force && sameFile(placeOf(&w).File, o.output)
	})
	alone, problems, err := loadWorkload(text, main)
	if err != nil {
		return err
	}
	problems = daemon.Merge(problems, problemsTogether(main, alone))
	var errs []error
	if o.cpuRequest == "" && !knowsRequests(alone, main) {
		errs = append(errs, errors.New("--cpu-request is missing: the target does not know what its instances request"))
		problems = slices.DeleteFunc(problems, func(p config.Problem) bool { return strings.HasPrefix(p.Key, "requests") })
	}
	for _, p := range problems {
		// There is no file yet in which the user could look up a line.
		p.File, p.Line, p.Where = "", 0, ""
		errs = append(errs, fmt.Errorf("cannot make the workload%s", p))
	}
	return errors.Join(append(errs, checkName(main, o.name))...)
}

// loadWorkload reads the text as a configuration of its own, that may name the targets of main.
func loadWorkload(text string, main *config.Config) (*config.Config, config.Problems, error) {
	dir, err := os.MkdirTemp("", "hpad-autoscale-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "workload.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	d := drivers()
	known := config.Known{Sources: sources.Registry(d.Sources).Names(), Targets: targets.Registry(d.Targets).Names()}
	for _, t := range main.Targets {
		known.Targets = append(known.Targets, t.Name)
	}
	slices.Sort(known.Targets)
	known.Targets = slices.Compact(known.Targets)
	alone, problems := config.Load(file, known)
	return alone, problems, nil
}

// problemsTogether are the drivers' problems with the workloads of alone once they are part of
// main.
func problemsTogether(main, alone *config.Config) config.Problems {
	together := *main
	together.Workloads = slices.Concat(main.Workloads, alone.Workloads)
	for _, t := range alone.Targets {
		named := func(other config.Driver) bool { return other.Name == t.Name }
		if !slices.ContainsFunc(main.Targets, named) {
			together.Targets = append(slices.Clip(together.Targets), t)
		}
	}
	set, problems := daemon.Build(&together, drivers(), daemon.Environment{Log: slog.New(slog.DiscardHandler)})
	if set != nil {
		// Nothing was started, and there is nothing to tell the user about it.
		_ = set.Close()
	}
	return slices.DeleteFunc(problems, func(p config.Problem) bool { return p.File != alone.Path })
}

// knowsRequests tells whether the target of the workload in alone knows what its instances request.
// One that is unknown itself has another problem.
func knowsRequests(alone, main *config.Config) bool {
	for _, w := range alone.Workloads {
		for _, t := range slices.Concat(main.Targets, alone.Targets) {
			if t.Name != w.Via {
				continue
			}
			driver, found := targets.Registry(drivers().Targets).Find(t.Driver)
			return !found || driver.KnowsRequests
		}
	}
	return true
}

// checkName refuses a name that is taken.
func checkName(main *config.Config, name string) error {
	for i := range main.Workloads {
		if main.Workloads[i].Name == name {
			place := placeOf(&main.Workloads[i])
			return fmt.Errorf("cannot make the workload: name: workload %q exists already (%s:%d)", name, place.File, place.Line)
		}
	}
	return nil
}

// placeOf is where a workload stands.
func placeOf(w *config.Workload) config.Problem { return w.Problems(errors.New(""))[0] }
