package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hpad/hpad/algorithm/scenario"
	"github.com/hpad/hpad/daemon/config"
)

func newEvaluate() *cobra.Command {
	var explain bool
	cmd := &cobra.Command{
		Use:   "evaluate FILE…|-",
		Short: "Answer what hpad would decide in recorded scenarios",
		Long: `Read scenarios, one JSON object per line, and print what hpad decides in them: one line
of JSON per scenario, {"name": …, "steps": […]}, with what each step leaves behind. What
a step expects ("expect") is ignored. "-" is standard input. docs/scenarios.md describes the
format; docs/scenario-example.jsonl is an example.

With --explain the trace of every decision is printed for people instead. A line that
cannot be used is named as "file:line: what is wrong" (exit code 2) and ends it.`,
		Example: `  hpad evaluate --explain scenarios.jsonl
  hpad evaluate - < scenarios.jsonl | jq '.steps[-1].desired_replicas'`,
		Args: names(1, -1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			show := showJSON(out)
			if explain {
				show = showTrace(out)
			}
			for _, file := range args {
				if err := evaluateFile(file, cmd.InOrStdin(), show); err != nil {
					return errors.Join(out.Flush(), err)
				}
			}
			return out.Flush()
		},
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "print why, for people")
	return cmd
}

// outcomes shows the outcome of one scenario.
type outcomes func(*scenario.Scenario, *scenario.Outcome) error

func evaluateFile(file string, in io.Reader, show outcomes) error {
	name := "standard input"
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return badInput{fmt.Errorf("cannot read scenarios: %w", err)}
		}
		defer opened.Close()
		name, in = file, opened
	}
	for s, err := range scenario.Read(in) {
		if err != nil {
			return located(name, err)
		}
		outcome := scenario.Run(s)
		if err := show(s, &outcome); err != nil {
			return err
		}
	}
	return nil
}

// located names the file in front of the line.
func located(file string, err error) error {
	if wrong, ok := errors.AsType[*scenario.LineError](err); ok {
		return config.Problems{{File: file, Line: wrong.Line, Message: wrong.Err.Error()}}
	}
	return fmt.Errorf("cannot read %q: %w", file, err)
}

func showJSON(out io.Writer) outcomes {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return func(_ *scenario.Scenario, o *scenario.Outcome) error { return encoder.Encode(o) }
}

func showTrace(out io.Writer) outcomes {
	return func(s *scenario.Scenario, o *scenario.Outcome) error {
		fmt.Fprintf(out, "%s\n", s.Name)
		for i := range o.Steps {
			fmt.Fprintf(out, "  at %ds\n", *s.Steps[i].At)
			for _, line := range o.Explain(i) {
				if _, err := fmt.Fprintf(out, "    %s\n", line); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
