package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// workloadFile is the text of the file: settings, and what else could be set as comments.
func workloadFile(o autoscaleOptions, target string) string {
	return fmt.Sprintf(`# One workload of hpad. The main configuration takes it in with
# include = ["workloads.d/*.toml"]; all keys are in docs/configuration.md.

[[workload]]
name = %s
target = %s
min_replicas = %d
max_replicas = %d
# Decide and report, but change nothing:
# dry_run = true
%s

# As many replicas as it takes for the instances to use, on average, %d %% of the CPU they request.
# Of several metrics, the one that asks for the most replicas decides.
[[workload.metric]]
type = "resource"
name = "cpu"
average_utilization = %d

# Growing at once, by at most 4 instances or 100 %% in 15 seconds, whichever is more
# (the default):
# [workload.behavior.scale_up]
# policies = [
#   { type = "instances", value = 4, period = "15s" },
#   { type = "percent", value = 100, period = "15s" },
# ]

# Shrinking after 5 calm minutes (the default), by at most half per minute:
# [workload.behavior.scale_down]
# stabilization_window = "5m"
# policies = [{ type = "percent", value = 50, period = "60s" }]
`, tomlString(o.name), target, o.least, o.most, requestLines(o.cpuRequest), o.cpuPercent, o.cpuPercent)
}

func requestLines(cpu string) string {
	lines := "# What one instance reserves, where the target does not know:\n"
	if cpu == "" {
		return lines + `# requests = { cpu = "500m" }`
	}
	return lines + "requests = { cpu = " + tomlString(cpu) + " }"
}

// targetTable is the inline table of a TARGET.
func targetTable(text string) (string, error) {
	if via, service, short := strings.Cut(text, "/"); short && !strings.Contains(via, "=") {
		return fmt.Sprintf("{ via = %s, service = %s }", tomlString(via), tomlString(service)), nil
	}
	var fields []string
	for _, field := range splitFields(text) {
		key, value, ok := strings.Cut(field, "=")
		if !ok || strings.TrimSpace(key) == "" {
			return "", errors.New("cannot read --target: it must be VIA/SERVICE or via=VIA,KEY=VALUE,…")
		}
		fields = append(fields, options.Quote(strings.TrimSpace(key))+" = "+tomlValue(strings.TrimSpace(value)))
	}
	return "{ " + strings.Join(fields, ", ") + " }", nil
}

// splitFields splits at commas that are in no quotes, brackets or braces.
func splitFields(text string) []string {
	var fields []string
	depth, start := 0, 0
	quote := rune(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			fields = append(fields, text[start:i])
			start = i + 1
		}
	}
	return append(fields, text[start:])
}

// literal matches what stands in TOML as it is: numbers, truth values, and what begins as a
// string, an array or a table. Everything else is a string without its quotes.
var literal = regexp.MustCompile(`^(-?[0-9]+|true|false|["'\[{].*)$`)

func tomlValue(text string) string {
	if literal.MatchString(text) {
		return text
	}
	return tomlString(text)
}

// tomlString is a basic string of TOML, whose escapes are those of JSON.
func tomlString(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
