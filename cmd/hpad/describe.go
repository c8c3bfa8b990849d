package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/api"
)

func newDescribe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe NAME",
		Short: "Show one workload in full: metrics, conditions, events, the last decision",
		Long: `Show everything about one workload, as "kubectl describe hpa" does, and the trace of the
last decision: what was seen, what each metric asked for, what held it back, what was
done.`,
		Example: `  hpad describe web
  hpad describe web --address http://10.0.0.7:9872`,
		Args: names(1, 1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newReader(cmd)
			if err != nil {
				return err
			}
			w, err := c.workload(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), describe(&w, time.Now()))
			return err
		},
	}
	addAddressFlag(cmd)
	return cmd
}

// describe writes a workload for people.
func describe(w *api.Workload, now time.Time) string {
	var b strings.Builder
	b.WriteString(new(table).lines(summary(w, now)))
	section(&b, "Metrics:  ( current / target value )", metricRows(w.Metrics))
	section(&b, "Conditions:", conditionRows(w))
	section(&b, "Last decision:", asRows(shortened(w.Explanation, w)))
	section(&b, "Warnings:", asRows(w.Warnings))
	if len(w.Events) == 0 {
		b.WriteString("Events:  <none>\n")
	} else {
		section(&b, "Events:", eventRows(w.Events, now))
	}
	return b.String()
}

func summary(w *api.Workload, now time.Time) [][]string {
	rows := [][]string{
		{"Name:", w.Name},
		{"Target:", fmt.Sprintf("%s (via %s)", w.Target, w.Via)},
		{"Min replicas:", itoa(w.MinReplicas)},
		{"Max replicas:", itoa(w.MaxReplicas)},
		{"Replicas:", replicasLine(w)},
		{"Last scaling:", ago(w.LastScale, now)},
		{"Last evaluation:", ago(w.LastEvaluation, now)},
		{"Last success:", ago(w.LastSuccess, now)},
	}
	if w.DryRun {
		rows = append(rows, []string{"Dry run:", "yes: decisions are not applied"})
	}
	if w.Error != "" {
		rows = append(rows, []string{"Error:", w.Error})
	}
	return rows
}

func replicasLine(w *api.Workload) string {
	switch {
	case w.Disabled:
		return "off (0 replicas): set to 0 by hand; set it to 1 or more to turn scaling on again"
	case !wasRead(w):
		return unknown
	}
	return fmt.Sprintf("%d spec / %d status / %s desired", w.SpecReplicas, w.StatusReplicas, desiredCell(w))
}

func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return age(t, now) + " ago"
}

// section writes indented rows below a title, or nothing if there are none.
func section(b *strings.Builder, title string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	b.WriteString(title + "\n")
	for line := range strings.Lines(new(table).lines(rows)) {
		b.WriteString("  " + line)
	}
}

func metricRows(metrics []api.Metric) [][]string {
	var rows [][]string
	for i := range metrics {
		m := &metrics[i]
		rows = append(rows, []string{metricTitle(m) + ":", metricLevel(m), metricNote(m)})
	}
	return rows
}

// metricTitle says what is measured and how: `resource cpu (as a percentage of the request)`.
func metricTitle(m *api.Metric) string {
	title := m.Type + " " + metricLabel(m)
	if m.Source != "" {
		title += " from " + m.Source
	}
	switch algorithm.TargetKind(m.TargetKind) {
	case algorithm.KindAverageUtilization:
		title += " (as a percentage of the request)"
	case algorithm.KindAverageValue:
		title += " (average per instance)"
	case algorithm.KindValue:
	}
	return title
}

func metricLevel(m *api.Metric) string {
	level := current(m)
	if m.CurrentAverage != nil && m.TargetKind == string(algorithm.KindAverageUtilization) {
		level += " (" + amount(m, *m.CurrentAverage) + ")"
	}
	return level + " / " + targetValue(m)
}

// metricNote is what the metric asks for, or why it cannot ask.
func metricNote(m *api.Metric) string {
	switch {
	case m.Error != "" && m.Kind != "":
		return m.Kind + ": " + cause(m.Error)
	case m.Error != "":
		return cause(m.Error)
	case m.Recommendation != nil:
		return "asks for " + itoa(*m.Recommendation)
	}
	return ""
}

func conditionRows(w *api.Workload) [][]string {
	if len(w.Conditions) == 0 {
		return nil
	}
	rows := underlined("Type", "Status", "Reason", "Message")
	for _, c := range w.Conditions {
		message := c.Message
		if c.Type == "EvaluationFailed" && w.Error != "" && message == w.Error {
			message = failedKind(w.Metrics) + "see Error"
		}
		rows = append(rows, []string{c.Type, c.Status, c.Reason, message})
	}
	return rows
}

// failedKind is the kind of the first metric that failed, with a comma.
func failedKind(metrics []api.Metric) string {
	for i := range metrics {
		if metrics[i].Kind != "" {
			return metrics[i].Kind + ", "
		}
	}
	return ""
}

func eventRows(events []api.Event, now time.Time) [][]string {
	rows := underlined("Type", "Reason", "Age", "Message")
	for _, e := range events {
		when := age(e.Last, now)
		if e.Count > 1 {
			when = fmt.Sprintf("%s (x%d over %s)", when, e.Count, age(e.First, now))
		}
		rows = append(rows, []string{cmp.Or(e.Type, "Normal"), e.Reason, when, e.Message})
	}
	return rows
}

func underlined(titles ...string) [][]string {
	lines := make([]string, len(titles))
	for i, title := range titles {
		lines[i] = strings.Repeat("-", len(title))
	}
	return [][]string{titles, lines}
}

func asRows(lines []string) [][]string {
	var rows [][]string
	for _, line := range lines {
		rows = append(rows, []string{line})
	}
	return rows
}
