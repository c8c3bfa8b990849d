package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/api"
)

// watchInterval is how often get --watch asks.
const watchInterval = time.Second

func newGet() *cobra.Command {
	var output string
	var watch bool
	cmd := &cobra.Command{
		Use:   "get [NAME]",
		Short: "Show the workloads: metrics, bounds, replicas",
		Long: `Show one line per workload, as "kubectl get hpa" does: what each metric has over what
it should have, the bounds, and the replicas.

"off (0 replicas)" is a workload whose target somebody set to 0: it stays there until
somebody sets it to 1 or more. "(dry run)" is one whose decisions are not applied.`,
		Example: `  hpad get
  hpad get web -o wide
  hpad get --watch
  hpad get -o json | jq '.workloads[] | select(.error)'`,
		Args: names(0, 1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			show, err := printerFor(output, cmd.OutOrStdout(), len(args) == 1)
			if err != nil {
				return err
			}
			c, err := newReader(cmd)
			if err != nil {
				return err
			}
			fetch := fetcher(c, args)
			if watch {
				return watchWorkloads(cmd.Context(), fetch, show, cmd.ErrOrStderr())
			}
			workloads, err := fetch(cmd.Context())
			if err != nil {
				return err
			}
			if len(workloads) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "hpad: the configuration has no workloads")
			}
			return show(workloads, time.Now())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "table", "`FORMAT`: table, wide, json or yaml")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on and show every change")
	addAddressFlag(cmd)
	return cmd
}

type fetch func(context.Context) ([]api.Workload, error)

func fetcher(c *client, args []string) fetch {
	if len(args) == 0 {
		return c.workloads
	}
	return func(ctx context.Context) ([]api.Workload, error) {
		w, err := c.workload(ctx, args[0])
		return []api.Workload{w}, err
	}
}

// printer shows workloads as they are at a time.
type printer func([]api.Workload, time.Time) error

func printerFor(output string, w io.Writer, single bool) (printer, error) {
	switch output {
	case "table", "wide":
		return tablePrinter(w, output == "wide"), nil
	case "json":
		return func(workloads []api.Workload, _ time.Time) error {
			text, err := json.MarshalIndent(document(workloads, single), "", "  ")
			return write(w, append(text, '\n'), err)
		}, nil
	case "yaml":
		return func(workloads []api.Workload, _ time.Time) error {
			text, err := yaml.Marshal(document(workloads, single))
			return write(w, append([]byte("---\n"), text...), err)
		}, nil
	}
	return nil, badInput{fmt.Errorf("cannot print as %q: the formats are table, wide, json and yaml", output)}
}

// document is what the daemon answered, for programs.
func document(workloads []api.Workload, single bool) any {
	if single {
		return workloads[0]
	}
	return api.WorkloadList{Workloads: workloads}
}

func write(w io.Writer, text []byte, err error) error {
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func tablePrinter(w io.Writer, wide bool) printer {
	var t table
	header := []string{"NAME", "TARGET", "METRICS", "MIN", "MAX", "REPLICAS", "AGE"}
	if wide {
		header = append(header, "DESIRED", "LAST SCALE", "STATE")
	}
	return func(workloads []api.Workload, now time.Time) error {
		var rows [][]string
		for i := range workloads {
			rows = append(rows, row(&workloads[i], now, wide))
		}
		// Titles that no longer stand above their columns are written anew.
		if t.widen(append(rows, header)) {
			rows = slices.Insert(rows, 0, header)
		}
		_, err := io.WriteString(w, t.lines(rows))
		return err
	}
}

func row(w *api.Workload, now time.Time, wide bool) []string {
	shown := 2
	if wide {
		shown = len(w.Metrics)
	}
	cells := []string{
		w.Name, shortTarget(w), metricsCell(w.Metrics, shown),
		itoa(w.MinReplicas), itoa(w.MaxReplicas), replicasCell(w), age(w.Since, now),
	}
	if wide {
		last := "never"
		if !w.LastScale.IsZero() {
			last = age(w.LastScale, now) + " ago"
		}
		cells = append(cells, desiredCell(w), last, stateCell(w))
	}
	return cells
}

// shortTarget is what tells the targets of one [targets.NAME] apart, after its name.
func shortTarget(w *api.Workload) string {
	_, id, _ := strings.Cut(w.Target, ":")
	return w.Via + "/" + id[strings.LastIndex(id, "/")+1:]
}

// metricsCell is `cpu: 45%/60%, queue: 12/30 (avg)`.
func metricsCell(metrics []api.Metric, shown int) string {
	if len(metrics) == 0 {
		return unknown
	}
	var cells []string
	for i := range metrics {
		if i == shown {
			cells = append(cells, fmt.Sprintf("+ %d more", len(metrics)-shown))
			break
		}
		m := &metrics[i]
		cell := fmt.Sprintf("%s: %s/%s", metricLabel(m), current(m), targetValue(m))
		if m.TargetKind == string(algorithm.KindAverageValue) {
			cell += " (avg)"
		}
		cells = append(cells, cell)
	}
	return strings.Join(cells, ", ")
}

func replicasCell(w *api.Workload) string {
	cell := itoa(w.StatusReplicas)
	switch {
	case w.Disabled:
		cell = "off (0 replicas)"
	case !wasRead(w):
		cell = unknown
	}
	if w.DryRun {
		cell += " (dry run)"
	}
	return cell
}

func desiredCell(w *api.Workload) string {
	if w.LastSuccess.IsZero() && w.DesiredReplicas == 0 {
		return unknown
	}
	return itoa(w.DesiredReplicas)
}

// wasRead tells whether the target has ever said how many replicas it has.
func wasRead(w *api.Workload) bool {
	return !w.LastSuccess.IsZero() || w.SpecReplicas > 0 || w.StatusReplicas > 0
}

// stateCell is the reason of the first condition that needs attention.
func stateCell(w *api.Workload) string {
	for _, c := range w.Conditions {
		if c.Type != "ScaledToZero" && (c.Status == "True") != goodWhenTrue(c.Type) {
			return c.Reason
		}
	}
	if len(w.Conditions) > 0 {
		return w.Conditions[0].Reason
	}
	return unknown
}

func goodWhenTrue(condition string) bool {
	return condition == "AbleToScale" || condition == "ScalingActive"
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }

// watchWorkloads shows all workloads, and from then on those that changed. Once it has begun, a
// daemon that does not answer is waited for.
func watchWorkloads(ctx context.Context, fetch fetch, show printer, errs io.Writer) error {
	seen := map[string]string{}
	trouble := ""
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		workloads, err := fetch(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && len(seen) == 0:
			return err
		case err != nil && err.Error() != trouble:
			fmt.Fprintf(errs, "hpad: %s\n", err)
		}
		trouble = ""
		if err != nil {
			trouble, workloads = err.Error(), nil
		}
		if changed := changes(workloads, seen); len(changed) > 0 {
			if err := show(changed, time.Now()); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// changes returns the workloads whose row differs from the one in seen, and remembers theirs.
func changes(workloads []api.Workload, seen map[string]string) []api.Workload {
	var changed []api.Workload
	for i := range workloads {
		w := &workloads[i]
		// Ages as of a fixed time: that time passes is no change.
		text := strings.Join(row(w, w.LastScale, true), "\x00")
		if seen[w.Name] != text {
			seen[w.Name] = text
			changed = append(changed, *w)
		}
	}
	return changed
}
