package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/common/promslog"
	"github.com/spf13/cobra"

	"github.com/hpad/hpad/daemon/config"
)

func newCheck() *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say everything that is wrong with the configuration",
		Long: `Read the configuration and say everything that is wrong with it, one line each as
"file:line: workload "web": key: what is wrong" (exit code 2). Nothing is asked over the
network and nothing is started.

With --live every target is also asked for its status and every metric for its samples;
usage, such as CPU, is read twice. Nothing is changed; what does not answer is printed
(exit code 1).`,
		Example: `  hpad check
  hpad check --live
  hpad check --config /tmp/hpad.toml && hpad reload`,
		Args: names(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return check(cmd, live) },
	}
	cmd.Flags().BoolVar(&live, "live", false, "also ask every target and every source")
	return cmd
}

func check(cmd *cobra.Command, live bool) (err error) {
	flags := logFlags{level: promslog.NewLevel(), format: promslog.NewFormat()}
	if err := flags.level.Set("warn"); err != nil {
		return err
	}
	cfg, set, problems := openConfig(configFile(cmd), flags.logger(cmd.ErrOrStderr()))
	if len(problems) > 0 {
		return problems
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	if live {
		var silent []error
		for _, message := range set.Live(cmd.Context()) {
			silent = append(silent, errors.New(message))
		}
		if len(silent) > 0 {
			return errors.Join(silent...)
		}
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "ok: "+inventory(cfg))
	return err
}

// inventory is "12 workloads, 2 sources, 1 target".
func inventory(cfg *config.Config) string {
	return strings.Join([]string{
		counted(len(cfg.Workloads), "workload"),
		counted(len(cfg.Sources)+len(measuring(cfg)), "source"),
		counted(len(cfg.Targets), "target"),
	}, ", ")
}

// measuring are the targets whose own source measures a resource of some workload.
func measuring(cfg *config.Config) map[string]bool {
	all := map[string]bool{}
	for i := range cfg.Workloads {
		w := &cfg.Workloads[i]
		for k := range w.Metrics {
			if w.Metrics[k].Source == "" {
				all[w.Via] = true
			}
		}
	}
	return all
}
