package main

import (
	"errors"
	"fmt"
	"net/http"

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
socket always. SIGHUP to the daemon does the same without an answer.`,
		Example: `  hpad reload
  hpad reload --address unix:///run/hpad/hpad.sock`,
		Args: names(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := newChanger(cmd)
			if err != nil {
				return err
			}
			said, err := c.reload(cmd.Context())
			refused, ok := errors.AsType[*refusal](err)
			switch {
			case err == nil:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), said)
				return err
			case ok && refused.problem.Status == http.StatusInternalServerError:
				// The detail has a line of its own for each problem.
				return fmt.Errorf("%s:\n%s", refused.problem.Title, refused.problem.Detail)
			}
			return fmt.Errorf("cannot reload: %w", err)
		},
	}
	addAddressFlag(cmd)
	return cmd
}
