package algorithm_test

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm/scenario"
)

// rule is a sentence of docs/semantics.md as a scenario: fragments of its JSON, and what each of
// its steps leaves behind.
type rule struct {
	name, workload, initial string
	steps, want             []string
}

// TestRulesHold replays testdata/rules.scenarios, which holds what the vectors of upstream show
// seldom or not at all.
func TestRulesHold(t *testing.T) {
	rules := readRules(t, "testdata/rules.scenarios")
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if diff := cmp.Diff(r.want, r.replay(t)); diff != "" {
				t.Errorf("-rule +what happens\n%s", diff)
			}
		})
	}
}

func readRules(t *testing.T, name string) (rules []*rule) {
	t.Helper()
	lines := bufio.NewScanner(open(t, name))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(strings.TrimPrefix(line, "   "), " ")
		if word == "rule" {
			rules = append(rules, &rule{name: rest})
			continue
		}
		switch r := rules[len(rules)-1]; word {
		case "workload":
			r.workload = rest
		case "initial":
			r.initial = rest
		case "step":
			r.steps = append(r.steps, "{"+rest+"}")
		case "":
			r.want = append(r.want, rest)
		default:
			t.Fatalf("%s: unknown word %q", name, word)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rules
}

func (r *rule) replay(t *testing.T) (left []string) {
	t.Helper()
	words := strings.NewReplacer(
		"QUEUE", `{"type":"external","name":"q","target":{"type":"average_value","value":1000}}`,
		"TOTAL", `{"type":"external","name":"q","target":{"type":"value","value":1000}}`,
		"CPU50", `{"type":"resource","name":"cpu","target":{"type":"utilization","value":50}}`,
		"RULES", `"stabilization_window_s":0`,
		"1000m", `"requests":{"cpu":1000}`,
		"OLD", `"started_s":-900`,
	)
	line := words.Replace(fmt.Sprintf(`{"name":%q,"workload":{%s},"initial":{%s},"steps":[%s]}`,
		r.name, r.workload, r.initial, strings.Join(r.steps, ",")))
	for s, err := range scenario.Read(strings.NewReader(line)) {
		if err != nil {
			t.Fatalf("%v in\n%s", err, line)
		}
		outcome := scenario.Run(s)
		for i := range outcome.Steps {
			left = append(left, leftBehind(&outcome.Steps[i]))
		}
	}
	return left
}

// leftBehind is the text of one step's result.
func leftBehind(r *scenario.Result) string {
	parts := []string{fmt.Sprint(r.SpecReplicas)}
	for _, condition := range []string{"AbleToScale", "ScalingActive", "ScalingLimited"} {
		reason := "-"
		if c, ok := r.Conditions[condition]; ok {
			reason = c[1]
		}
		parts = append(parts, reason)
	}
	for _, m := range r.Metrics {
		asks := "error=" + m.Error
		if m.Proposal != nil {
			asks = fmt.Sprint(*m.Proposal)
		}
		parts = append(parts, asks)
	}
	if r.Error {
		parts = append(parts, "FAILED")
	}
	if c, ok := r.Conditions["ScaledToZero"]; ok {
		parts = append(parts, "zero="+c[0])
	}
	if strings.HasPrefix(r.RescaleReason, "Current") {
		parts = append(parts, r.RescaleReason)
	}
	return strings.Join(parts, " ")
}
