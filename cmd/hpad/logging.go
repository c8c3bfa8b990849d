package main

import (
	"io"
	"log/slog"
	"strings"

	"github.com/prometheus/common/promslog"
	"github.com/spf13/cobra"
)

// logFlags are the flags every Prometheus program has.
type logFlags struct {
	level  *promslog.Level
	format *promslog.Format
}

func addLogFlags(cmd *cobra.Command) logFlags {
	f := logFlags{level: promslog.NewLevel(), format: promslog.NewFormat()}
	// Set cannot fail: the word is one of FormatFlagOptions.
	_ = f.format.Set("logfmt")
	oneOf := func(words []string) string { return "one of " + strings.Join(words, ", ") }
	cmd.Flags().Var(flagValue{f.level}, "log.level", "log only what is at least this `LEVEL`: "+oneOf(promslog.LevelFlagOptions))
	cmd.Flags().Var(flagValue{f.format}, "log.format", "`FORMAT` of the log: "+oneOf(promslog.FormatFlagOptions))
	return f
}

// logger writes in the chosen format. Unlike promslog's it leaves out the line of code, which
// would take the key "source" from the sources.
func (f logFlags) logger(w io.Writer) *slog.Logger {
	handlerOptions := &slog.HandlerOptions{Level: f.level}
	if f.format.String() == "json" {
		return slog.New(slog.NewJSONHandler(w, handlerOptions))
	}
	return slog.New(slog.NewTextHandler(w, handlerOptions))
}

// flagValue makes a flag of promslog one of cobra.
type flagValue struct {
	value interface {
		String() string
		Set(string) error
	}
}

func (f flagValue) String() string     { return f.value.String() }
func (f flagValue) Set(s string) error { return f.value.Set(s) }
func (f flagValue) Type() string       { return "string" }
