package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newDocs is the command that writes docs/commands.md; a test compares the two.
func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:    "docs",
		Short:  "Print the reference of all commands as Markdown",
		Hidden: true,
		Args:   names(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), commandsReference(cmd.Root()))
			return err
		},
	}
}

const referenceHead = `# Commands

<!-- Written by "make generate" from the help texts of cmd/hpad; do not edit. -->

Data goes to standard output, everything else to standard error. Exit codes: 0 fine, 1
failed, 2 bad input (a command line, configuration or scenario that cannot be used).

`

func commandsReference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(referenceHead)
	describeCommand(&b, root)
	for _, c := range root.Commands() {
		if !c.Hidden {
			describeCommand(&b, c)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func describeCommand(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n", c.CommandPath(), c.Long)
	fmt.Fprintf(b, "```text\n%s\n```\n\n", c.UseLine())
	if c.Example != "" {
		fmt.Fprintf(b, "Examples:\n\n```text\n%s\n```\n\n", unindented(c.Example))
	}
	flags := flagRows(c.LocalFlags())
	if flags == "" {
		return
	}
	fmt.Fprintf(b, "| flag | meaning | default |\n| --- | --- | --- |\n%s\n", flags)
}

// unindented takes away what indents examples in a terminal.
func unindented(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}

func flagRows(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		word, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value := ""
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			value = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimSpace(name+" "+word), usage, value)
	})
	return b.String()
}
