package main

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/prometheus/common/version"
	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of hpad, the commit it was built from, and the Go release.",
		Example: "  hpad version",
		Args:    names(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine is what "hpad version" and "hpad --version" print.
func versionLine() string {
	return fmt.Sprintf("hpad %s (revision %s, %s, %s/%s)",
		programVersion(), version.GetRevision(), version.GoVersion, version.GoOS, version.GoArch)
}

// programVersion is what the build was told, else what "go install" knows.
func programVersion() string {
	installed := ""
	if build, ok := debug.ReadBuildInfo(); ok {
		installed = build.Main.Version
	}
	return cmp.Or(version.Version, installed, "unknown")
}
