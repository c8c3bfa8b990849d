package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// tableOfWorkload is how messages name the table of a workload.
const tableOfWorkload = "[[workload]]"

// unknownKey says more of an unknown key in the table at a path of a scope than that it is unknown:
// which table has it, or what hpad has for Kubernetes' word. It is empty if it knows nothing.
func (s *scope) unknownKey(table, name string) string {
	if instead := kubernetesWord(name); instead != "" {
		return fmt.Sprintf("unknown key %q: %s", name, instead)
	}
	belongs := tableWith(name, s.where == "")
	switch {
	case belongs == "":
		return ""
	case belongs == tableOfWorkload && table != "":
		return fmt.Sprintf("unknown key %q, it belongs to %s: write it above the tables within that", name, belongs)
	}
	return fmt.Sprintf("unknown key %q, it belongs to %s", name, belongs)
}

// tableWith names the table that has the key: if several have it, that of the daemon at the top of
// a file, another one in a workload.
func tableWith(key string, top bool) string {
	if top && slices.Contains(options.Keys(daemonKeys{}), key) {
		return "[daemon]"
	}
	for _, table := range []struct {
		name string
		keys any
	}{
		{tableOfWorkload, workloadKeys{}},
		{"[[workload.metric]]", metricKeys{}},
		{"[workload.behavior]", behaviorKeys{}},
		{"[workload.behavior.scale_up] or [workload.behavior.scale_down]", rulesKeys{}},
		{"[daemon]", daemonKeys{}},
	} {
		if slices.Contains(options.Keys(table.keys), key) {
			return table.name
		}
	}
	return ""
}

// kubernetesWord says what to write instead of a key of a HorizontalPodAutoscaler that has no
// counterpart of a similar name.
func kubernetesWord(key string) string {
	types := map[string]string{
		"resource": "resource", "containerresource": "container_resource",
		"pods": "instances", "external": "external",
	}
	plain := strings.ToLower(strings.ReplaceAll(key, "_", ""))
	if plain == "scaletargetref" {
		return `what is scaled is written as target = { via = "…" }`
	}
	if t := types[plain]; t != "" {
		return fmt.Sprintf("write type = %q, and its keys directly into [[workload.metric]]", t)
	}
	return ""
}

// pods is Kubernetes' word for instances, in any spelling.
func pods(word string) bool { return strings.EqualFold(strings.TrimSuffix(word, "s"), "pod") }
