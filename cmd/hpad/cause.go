package main

import (
	"strings"

	"github.com/hpad/hpad/daemon/api"
)

// longestCause is how many characters of an error fit beside other things.
const longestCause = 90

// cause is the end of an error, where what happened stands: of `query "x": cannot ask "…": dial tcp
// …: connect: connection refused` it is "connection refused". What is short already stays whole.
func cause(text string) string {
	text = unprefixed(text)
	if len([]rune(text)) <= longestCause {
		return text
	}
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+len(": "):]
	}
	if runes := []rune(text); len(runes) > longestCause {
		text = string(runes[:longestCause-1]) + "…"
	}
	return text
}

// unprefixed leaves out the name of the metric, which stands beside the error anyway.
func unprefixed(text string) string {
	rest, found := strings.CutPrefix(text, `cannot use metric "`)
	if _, after, named := strings.Cut(rest, `": `); found && named {
		return after
	}
	return text
}

// shortened are lines in which errors that are shown elsewhere are only named.
func shortened(lines []string, w *api.Workload) []string {
	var pairs []string
	for i := range w.Metrics {
		if full := unprefixed(w.Metrics[i].Error); full != "" {
			pairs = append(pairs, full, cause(full))
		}
	}
	if len(w.Error) > longestCause {
		pairs = append(pairs, w.Error, "see Error")
	}
	replacer := strings.NewReplacer(pairs...)
	short := make([]string, len(lines))
	for i, line := range lines {
		short[i] = replacer.Replace(line)
	}
	return short
}
