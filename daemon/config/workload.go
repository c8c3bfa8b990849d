package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
)

// workloadTables makes the [[workload]] tables of one file.
func (l *loader) workloadTables(p position, tables []rawTable) {
	for i, values := range tables {
		place := p.below(element("workload", i)).named(element("workload", i))
		if name, ok := values["name"].(string); ok && name != "" {
			place = place.named("workload " + quoted(name))
		}
		if values == nil { // the element was no table, and is reported as such
			continue
		}
		l.config.Workloads = append(l.config.Workloads, l.workload(l.scope(place), values))
	}
}

func (l *loader) workload(s *scope, values map[string]any) Workload {
	w := Workload{
		Fingerprint: fingerprint(s.dir, fmt.Sprint(l.config.Daemon.Settings), values),
		position:    s.position,
	}
	keys := defaultWorkload()
	s.add("", options.Decode(s.dir, values, &keys))
	w.Name, w.DryRun = keys.Name, keys.DryRun
	l.checkName(s, w.Name)
	l.target(s, &w, keys.Target)
	w.Requests = requests(s, keys.Requests)
	w.Spec = algorithm.Spec{
		MinReplicas: keys.MinReplicas,
		ScaleToZero: keys.ScaleToZero,
		Behavior:    behavior(s, keys.Behavior),
		Settings:    l.config.Daemon.Settings,
	}
	if keys.MinReplicas == 0 && !keys.ScaleToZero {
		s.failf("min_replicas", "must be >= 1, or 0 with scale_to_zero = true, is 0")
	}
	if keys.MaxReplicas == nil {
		s.failf("max_replicas", "is required")
	} else {
		w.Spec.MaxReplicas = *keys.MaxReplicas
	}
	l.metrics(s, &w, keys.Metric)
	for _, e := range w.Spec.Validate() {
		s.tell(e.Key, e.Message)
	}
	w.Spec = w.Spec.WithDefaults()
	if len(w.Metrics) == 0 { // the default metric has been added
		w.Metrics = []Metric{defaultMetric().origin()}
	}
	return w
}

func (l *loader) checkName(s *scope, name string) {
	switch {
	case name == "":
		s.failf("name", "is required")
		return
	case !namePattern.MatchString(name):
		s.failf("name", "must be %s, is %s", nameRule, options.Show(name))
	}
	if other, taken := l.named[name]; taken {
		s.failf("name", "is also the name of the workload at %s:%d", other.file, other.line(""))
		return
	}
	l.named[name] = s.position
}

// target splits the target's table into the connection it names and the driver's options.
func (l *loader) target(s *scope, w *Workload, values map[string]any) {
	place := s.below("target")
	w.Target = &Table{position: place, values: without(values, "via")}
	if values == nil {
		s.failf("target", `is required, such as target = { via = "process", command = ["worker"] }`)
		w.Target.values = map[string]any{}
		return
	}
	refuseSecrets(s, "target", w.Target.values)
	via, ok := values["via"].(string)
	switch {
	case values["via"] == nil || ok && via == "":
		s.failf("target.via", "is required: the name of a [targets.NAME] table, or of a driver that needs none%s", knownAre(l.targets.known))
		return
	case !ok:
		s.failf("target.via", "must be a string, is %s", options.Show(values["via"]))
		return
	}
	w.Via = via
	l.targets.use(s, "target.via", via)
	same := fingerprint(values)
	if other, taken := l.targeted[same]; taken {
		o := l.config.Workloads[other]
		s.failf("target", "is also the target of %s (%s:%d)", o.position.where, o.position.file, o.position.line("target"))
		return
	}
	l.targeted[same] = len(l.config.Workloads)
}

func requests(s *scope, written map[string]decimal) []algorithm.Request {
	var all []algorithm.Request
	for _, resource := range slices.Sorted(maps.Keys(written)) {
		key := "requests." + options.Quote(resource)
		checkResource(s, key, resource)
		q, ok := quantity(s, key, written[resource])
		if ok && q <= 0 {
			s.failf(key, "must be > 0, is %s", written[resource])
		}
		all = append(all, algorithm.Request{Resource: resource, Value: q})
	}
	return all
}
