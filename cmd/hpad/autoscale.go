package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

func newAutoscale() *cobra.Command {
	var o autoscaleOptions
	cmd := &cobra.Command{
		Use:   "autoscale NAME --target TARGET --max N",
		Short: "Write the configuration of a workload",
		Long: `Write the file of a workload that is kept at an average CPU utilization, as "kubectl
autoscale" makes an HPA. The file is complete and explains what else can be set; it is
checked before it is written.

TARGET is the workload's target table, as KEY=VALUE,…; the key "via" names a target
([targets.NAME] of the configuration, or a driver). VIA/SERVICE is short for
via=VIA,service=SERVICE.

A CPU utilization is a percentage of what an instance requests. Process targets know of no
requests: for them --cpu-request says it. For others it stands in where an instance has
none.`,
		Example: `  hpad autoscale web --target swarm/shop_web --min 2 --max 5 --cpu-percent 60
  hpad autoscale web --target via=swarm,service=shop_web --max 5 -o /etc/hpad/workloads.d/web.toml
  hpad autoscale mailer --target 'via=process,command=["mailer","mail"]' --max 8 --cpu-request 500m`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cmp.Or(names(1, 1, "NAME")(cmd, args), given(cmd, "target"), given(cmd, "max"))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return autoscale(cmd, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.target, "target", "", "`TARGET` that is scaled: VIA/SERVICE or via=VIA,KEY=VALUE,…; required")
	flags.Int32Var(&o.least, "min", 1, "`N` replicas at least")
	flags.Int32Var(&o.most, "max", 0, "`N` replicas at most; required")
	flags.Int32Var(&o.cpuPercent, "cpu-percent", 80, "average CPU use of the instances, in `PERCENT` of what they request")
	flags.StringVar(&o.cpuRequest, "cpu-request", "", "cores that one instance reserves, as a `QUANTITY` such as 500m or 2; required for process targets")
	flags.StringVarP(&o.output, "output", "o", "", "`FILE` to write; default: standard output")
	flags.BoolVar(&o.force, "force", false, "overwrite the file if it exists")
	return cmd
}

// given refuses a command line without the flag.
func given(cmd *cobra.Command, flag string) error {
	if cmd.Flags().Changed(flag) {
		return nil
	}
	return fmt.Errorf("--%s is missing", flag)
}

type autoscaleOptions struct {
	name, target            string
	least, most, cpuPercent int32
	cpuRequest              string // empty if the target knows it
	output                  string
	force                   bool
}

func autoscale(cmd *cobra.Command, o autoscaleOptions) error {
	target, err := targetTable(o.target)
	if err != nil {
		return badInput{err}
	}
	text := workloadFile(o, target)
	if cmd.Flags().Changed("config") && !readable(configFile(cmd)) {
		_, problems := loadConfig(configFile(cmd))
		return problems
	}
	if err := checkWorkload(text, configFile(cmd), o); err != nil {
		return badInput{err}
	}
	if o.output == "" {
		_, err := cmd.OutOrStdout().Write([]byte(text))
		return err
	}
	if err := writeFile(o.output, text, o.force); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), nextStep(configFile(cmd), o.output))
	return nil
}

// nextStep says what is left to do for a file that was written.
func nextStep(mainFile, written string) string {
	cfg, _ := loadConfig(mainFile)
	included := slices.ContainsFunc(cfg.Files, func(file string) bool { return sameFile(file, written) })
	if !included {
		return fmt.Sprintf("wrote %s, which %s does not include yet", written, mainFile)
	}
	return fmt.Sprintf("wrote %s; \"hpad reload\" puts it in force", written)
}

func sameFile(a, b string) bool {
	x, errA := filepath.Abs(a)
	y, errB := filepath.Abs(b)
	return errA == nil && errB == nil && x == y
}

// writeFile writes a whole file or none, and overwrites only if told to.
func writeFile(path, text string, force bool) error {
	if !force {
		if _, err := os.Lstat(path); err == nil {
			return badInput{fmt.Errorf("cannot write %q: it exists; --force overwrites it", path)}
		}
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".hpad-autoscale-")
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(text)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}
