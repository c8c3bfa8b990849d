package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hpad/hpad/daemon/config"
)

// Exit codes; they are part of hpad's interface.
const (
	exitFine = iota
	exitFailed
	exitBadInput
)

const defaultConfig = "/etc/hpad/hpad.toml"

// badInput marks an error as the fault of what the user wrote: exit code 2.
type badInput struct{ error }

func (e badInput) Unwrap() error { return e.error }

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	// What fails before a command starts is a command line that cannot be understood.
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitFine
	case !started:
		fmt.Fprintf(errs, "hpad: %s\nSee \"%s --help\".\n", err, cmd.CommandPath())
		return exitBadInput
	}
	return report(errs, err)
}

// report prints the error of a command and returns the exit code for it.
func report(errs io.Writer, err error) int {
	if problems, ok := errors.AsType[config.Problems](err); ok {
		fmt.Fprintln(errs, problems)
		return exitBadInput
	}
	for _, one := range each(err) {
		fmt.Fprintf(errs, "hpad: %s\n", one)
	}
	if _, ok := errors.AsType[badInput](err); ok {
		return exitBadInput
	}
	return exitFailed
}

// each returns the errors that were joined into err.
func each(err error) []error {
	if marked, ok := err.(badInput); ok {
		return each(marked.error)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, each(e)...)
	}
	return all
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "hpad",
		Short: "The HorizontalPodAutoscaler for everything that is not a pod",
		Long: `hpad keeps workloads outside Kubernetes at the right size, by the rules of the
HorizontalPodAutoscaler: target values, tolerance, stabilization windows, rate policies.

"hpad run" is the daemon. The other commands check its configuration, show what it
does and why, and answer what it would do.`,
		Example: `  hpad check                 # is the configuration right?
  hpad run                   # keep the workloads at the right size
  hpad get                   # what is going on?
  hpad describe web          # what is going on with "web", and why?`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              knownCommand,
		Version:           versionLine(),
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	root.PersistentFlags().String("config", defaultConfig, "main configuration `FILE`")
	root.AddCommand(
		newRun(), newCheck(), newReload(),
		newGet(), newDescribe(),
		newEvaluate(), newAutoscale(),
		newVersion(), newCompletion(),
		newDemoWorker(), newDocs(),
	)
	return root
}

// knownCommand refuses a word after hpad that is no command, and names the nearest one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); args[0] != "" && len(near) > 0 {
		text += fmt.Sprintf(", did you mean %q?", near[0])
	}
	return errors.New(text)
}

// names accepts from least to most arguments, called by their names in messages.
func names(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s is missing", what)
		case most >= 0 && len(args) > most:
			return fmt.Errorf("unexpected argument %q", args[most])
		}
		return nil
	}
}

func configFile(cmd *cobra.Command) string {
	file, _ := cmd.Flags().GetString("config")
	return file
}
