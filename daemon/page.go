package daemon

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/version"

	"github.com/hpad/hpad/daemon/api"
)

// pagePolicy lets the page have its own styles and nothing else.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page is what a browser shows of the daemon.
type page struct {
	Version   string
	Now       time.Time
	Workloads []pageRow
}

// pageRow is a workload in the table.
type pageRow struct {
	Name, Path, Target string
	DryRun             bool
	// Replicas and Desired are "-" where they are not known yet.
	Replicas, Desired string
	Min, Max          int32
	Metrics           []string
	// State is good, waiting, off or bad.
	State, Reason, Message string
	LastScale              string
}

// servePage shows the workloads in a browser.
func (d *Daemon) servePage(w http.ResponseWriter, _ *http.Request) {
	p := page{Version: version.Version, Now: time.Now()}
	for _, one := range d.list() {
		shown := one.describe(false)
		p.Workloads = append(p.Workloads, rowOf(&shown, p.Now))
	}
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, p); err != nil {
		writeProblem(w, api.Problem{Status: http.StatusInternalServerError, Detail: "cannot write the page: " + err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	// The client is gone if this fails, and nobody is left to tell.
	_, _ = body.WriteTo(w)
}

func rowOf(w *api.Workload, now time.Time) pageRow {
	row := pageRow{
		Name: w.Name, Path: "/api/v1/workloads/" + w.Name, Target: w.Target, DryRun: w.DryRun,
		Replicas: "-", Desired: "-", Min: w.MinReplicas, Max: w.MaxReplicas,
		LastScale: "never",
	}
	got := !w.LastSuccess.IsZero()
	if got || w.SpecReplicas > 0 || w.StatusReplicas > 0 {
		row.Replicas = strconv.Itoa(int(w.StatusReplicas))
	}
	if got {
		row.Desired = strconv.Itoa(int(w.DesiredReplicas))
	}
	if !w.LastScale.IsZero() {
		row.LastScale = short(now.Sub(w.LastScale)) + " ago"
	}
	for i := range w.Metrics {
		row.Metrics = append(row.Metrics, metricText(&w.Metrics[i]))
	}
	row.State, row.Reason, row.Message = stateOf(w)
	return row
}

// stateOf is the condition that an operator should know of first, and how bad it is.
func stateOf(w *api.Workload) (state, reason, message string) {
	conditions := map[string]api.Condition{}
	for _, c := range w.Conditions {
		conditions[c.Type] = c
	}
	failed, blocked := conditions[evaluationFailed.String()], conditions[targetBlocked.String()]
	active, limited := conditions["ScalingActive"], conditions["ScalingLimited"]
	switch {
	case len(w.Conditions) == 0:
		return "waiting", "NotEvaluated", "the first evaluation is still to come"
	case failed.Status == "True":
		return "bad", failed.Reason, failed.Message
	case w.Disabled:
		return "off", active.Reason, active.Message
	case blocked.Status == "True":
		return "waiting", blocked.Reason, blocked.Message
	case limited.Status == "True":
		return "waiting", limited.Reason, limited.Message
	}
	able := conditions["AbleToScale"]
	return "good", able.Reason, able.Message
}

// metricText is "cpu 45 % / 60 %".
func metricText(m *api.Metric) string {
	current := "-"
	if m.CurrentValue != nil {
		current = amountText(m, *m.CurrentValue)
	}
	return m.Name + " " + current + " / " + amountText(m, m.TargetValue)
}

func amountText(m *api.Metric, v float64) string {
	switch {
	case m.TargetKind == "average_utilization":
		return strconv.FormatFloat(v, 'f', -1, 64) + " %"
	case m.Name != "memory":
		return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
	}
	units := []string{" B", " KiB", " MiB", " GiB", " TiB"}
	unit := 0
	for ; math.Abs(v) >= 1024 && unit < len(units)-1; unit++ {
		v /= 1024
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + units[unit]
}

// short is a duration in its largest unit.
func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

var pageTemplate = template.Must(template.New("page").Parse(strings.TrimSpace(`
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="15">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hpad</title>
<style>
:root { color-scheme: light dark; --line: #8884; --dim: #777; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
header, nav { display: flex; gap: 1.2rem; align-items: baseline; flex-wrap: wrap; }
h1 { margin: 0; font-size: 1.6rem; }
header span, small, footer { color: var(--dim); }
table { border-collapse: collapse; width: 100%; margin: 1.5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .45rem .7rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td ul { list-style: none; margin: 0; padding: 0; }
td small { display: block; }
td.t { min-width: 11rem; }
.state::before { content: "●"; margin-right: .4rem; color: #2e9e5b; }
.waiting::before { color: #d99000; }
.off::before { color: #888; }
.bad::before { color: #d33; }
</style>
</head>
<body>
<header><h1>hpad</h1><span>keeps workloads at the right size</span><span>{{with .Version}}version {{.}}{{end}}</span></header>
{{if .Workloads}}<table>
<thead><tr><th>Workload</th><th>Target</th><th class="n">Replicas</th><th class="n">Desired</th><th class="n">Min</th><th class="n">Max</th><th>Metrics (current / target value)</th><th>State</th><th>Last scaling</th></tr></thead>
<tbody>
{{range .Workloads}}<tr><td><a href="{{.Path}}">{{.Name}}</a>{{if .DryRun}}<small>dry run</small>{{end}}</td><td class="t">{{.Target}}</td><td class="n">{{.Replicas}}</td><td class="n">{{.Desired}}</td><td class="n">{{.Min}}</td><td class="n">{{.Max}}</td><td><ul>{{range .Metrics}}<li>{{.}}</li>{{end}}</ul></td><td><span class="state {{.State}}">{{.Reason}}</span>{{if ne .State "good"}}<small>{{.Message}}</small>{{end}}</td><td>{{.LastScale}}</td></tr>
{{end}}</tbody>
</table>{{else}}<p>No workload is configured.</p>{{end}}
<nav><a href="/api/v1/workloads">Workloads as JSON</a><a href="/metrics">Metrics</a><a href="/-/ready">Readiness</a><a href="/-/healthy">Health</a></nav>
<footer><small>As of {{.Now.Format "2006-01-02 15:04:05 MST"}}; shown anew every 15 seconds. <code>hpad describe NAME</code> explains every decision.</small></footer>
</body>
</html>
`)))
