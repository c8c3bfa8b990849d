package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/api"
)

const unknown = "<unknown>"

// age is a duration as kubectl shows it: one unit, or two while the larger one is below ten.
func age(from, now time.Time) string {
	if from.IsZero() {
		return unknown
	}
	d := max(now.Sub(from), 0)
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}}
	smaller := []string{"h", "m", "s"}
	sizes := []time.Duration{time.Hour, time.Minute, time.Second}
	for i, u := range units {
		n := d / u.size
		rest := (d % u.size) / sizes[i]
		switch {
		case n == 0:
			continue
		case n < 10 && rest > 0:
			return fmt.Sprintf("%d%s%d%s", n, u.name, rest, smaller[i])
		}
		return fmt.Sprintf("%d%s", n, u.name)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// number writes v without exponent and with at most three decimals.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}

// amount writes a value of a metric in the unit people use for it: memory in Ki, Mi, Gi, CPU
// below one core in thousandths, everything else as a plain number.
func amount(m *api.Metric, v float64) string {
	resource := m.Type == string(algorithm.TypeResource) || m.Type == string(algorithm.TypeContainerResource)
	switch {
	case resource && m.Name == "memory":
		return inBytes(v)
	case resource && m.Name == "cpu" && v != 0 && math.Abs(v) < 1:
		return number(v*1000) + "m"
	}
	return number(v)
}

func inBytes(v float64) string {
	units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi"}
	i := 0
	for ; math.Abs(v) >= 1024 && i < len(units)-1; i++ {
		v /= 1024
	}
	return number(math.Round(v*10)/10) + units[i]
}

// current and targetValue are the two sides of `45%/60%`.
func current(m *api.Metric) string {
	if m.CurrentValue == nil {
		return unknown
	}
	return inKind(m, *m.CurrentValue)
}

func targetValue(m *api.Metric) string { return inKind(m, m.TargetValue) }

func inKind(m *api.Metric, v float64) string {
	if m.TargetKind == string(algorithm.KindAverageUtilization) {
		return number(v) + "%"
	}
	return amount(m, v)
}

// metricLabel is the name of a metric, with its container.
func metricLabel(m *api.Metric) string {
	if m.Container != "" {
		return m.Name + "{" + m.Container + "}"
	}
	return m.Name
}

// counted is "1 workload", "2 workloads".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// table prints rows in columns, which never get narrower while it is used.
type table struct {
	widths []int
}

// columnGap is the space between columns.
const columnGap = 3

// widen makes room for rows, and tells whether that moves a column.
func (t *table) widen(rows [][]string) (moved bool) {
	for _, row := range rows {
		for len(t.widths) < len(row) {
			t.widths = append(t.widths, 0)
			moved = true
		}
		for i, cell := range row {
			wider := len([]rune(cell)) > t.widths[i]
			moved = moved || wider && i < len(t.widths)-1
			t.widths[i] = max(t.widths[i], len([]rune(cell)))
		}
	}
	return moved
}

func (t *table) lines(rows [][]string) string {
	t.widen(rows)
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", t.widths[i]-len([]rune(cell))+columnGap))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
