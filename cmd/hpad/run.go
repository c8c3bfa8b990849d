package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hpad/hpad/daemon"
	"github.com/hpad/hpad/daemon/config"
)

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Keep the workloads at the right size",
		Long: `Keep the workloads of the configuration at the right size until told to stop.

If anything is wrong with the configuration, every problem is printed and hpad does not
start (exit code 2). Sources and targets that do not answer keep nothing from starting.

"hpad reload" and "systemctl reload hpad" have it read the configuration again and say how
that went; SIGHUP to the process that "hpad run" is (not to the instances it runs) does so
without an answer. All of it comes into force or, if anything is wrong with it, nothing.
SIGTERM and SIGINT finish the change that is being made and stop.`,
		Example: `  hpad run
  hpad run --config config.example.toml --log.level debug`,
		Args: names(0, 0, ""),
	}
	flags := addLogFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return run(cmd.Context(), configFile(cmd), flags, cmd.ErrOrStderr())
	}
	return cmd
}

func run(ctx context.Context, file string, flags logFlags, errs io.Writer) error {
	log := flags.logger(errs)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	d, err := daemon.New(daemon.Options{
		Load:    func() (*config.Config, config.Problems) { return loadConfig(file) },
		Drivers: drivers(),
		Log:     log,
	})
	if err != nil {
		return err
	}
	log.Info("starting", "version", programVersion(), "config", file)
	go reloadOnHangup(ctx, d, hangups)
	return d.Run(ctx)
}

// reloadOnHangup reloads once per signal. The daemon itself logs how a reload went.
func reloadOnHangup(ctx context.Context, d *daemon.Daemon, hangups <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			_, _ = d.Reload(ctx)
		}
	}
}
