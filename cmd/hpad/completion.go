package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes hpad's commands in a shell",
		Long:  `Print a script that completes hpad's commands and flags in bash, zsh or fish.`,
		Example: `  source <(hpad completion bash)
  hpad completion zsh > "${fpath[1]}/_hpad"
  hpad completion fish > ~/.config/fish/completions/hpad.fish`,
		Args:      names(1, 1, "the shell (bash, zsh or fish)"),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return badInput{fmt.Errorf("cannot complete for %q: the shells are bash, zsh and fish", args[0])}
		},
	}
}
