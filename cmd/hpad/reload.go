package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newReload() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the daemon read its configuration again, and wait for the outcome",
		Long: `Make the daemon read its configuration again and wait until the new one is in force. If
anything is wrong with it, every problem is printed, what runs goes on unchanged, and
the exit code is 1.

Over TCP the daemon accepts this only if authentication is configured; over its unix
socket always. "kill -HUP" does the same without an answer.`,
		Example: `  hpad reload
  hpad reload --address unix:///run/hpad/hpad.sock`,
		Args: names(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := newClient(cmd)
			if err != nil {
				return err
			}
			if err := c.reload(cmd.Context()); err != nil {
				return fmt.Errorf("cannot reload: %w", err)
			}
			return nil
		},
	}
	addAddressFlag(cmd)
	return cmd
}
