package main

import (
	"github.com/spf13/cobra"

	"github.com/hpad/hpad/cmd/hpad/demo"
)

// newDemoWorker is what config.example.toml scales.
func newDemoWorker() *cobra.Command {
	return &cobra.Command{
		Use:    "demo-worker",
		Short:  "Be one worker of the demonstration in config.example.toml",
		Hidden: true,
		Args:   names(0, 0, ""),
		RunE:   func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context()) },
	}
}
