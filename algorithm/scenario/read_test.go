package scenario_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm/scenario"
)

const queue = `{"name":"q","workload":{"max_replicas":10,"metrics":[` +
	`{"type":"external","name":"queue","target":{"type":"average_value","value":1000}}]},"steps":[STEPS]}`

func line(steps string) string { return strings.Replace(queue, "STEPS", steps, 1) }

func read(text string) (names []string, err error) {
	for s, err := range scenario.Read(strings.NewReader(text)) {
		if err != nil {
			return names, err
		}
		names = append(names, s.Name)
	}
	return names, nil
}

func TestReadYieldsEveryScenarioAndSkipsBlankLines(t *testing.T) {
	one := line(`{"at_s":0,"spec_replicas":1}`)
	names, err := read("\n" + one + "\r\n  \n" + strings.Replace(one, `"q"`, `"r"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q", "r"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestReadStopsWhenItsReaderDoes(t *testing.T) {
	one := line(`{"at_s":0,"spec_replicas":1}`)
	count := 0
	for range scenario.Read(strings.NewReader(one + "\n" + one)) {
		count++
		break
	}
	if count != 1 {
		t.Errorf("read %d scenarios after the first was enough", count)
	}
}

func TestReadReportsAnErrorOfItsInput(t *testing.T) {
	broken := errors.New("broken")
	for _, err := range scenario.Read(iotest.ErrReader(broken)) {
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
	}
}

// endless is one line that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestReadRefusesALineWithoutEnd(t *testing.T) {
	for _, err := range scenario.Read(io.MultiReader(strings.NewReader("\n"), endless{})) {
		if err == nil || err.Error() != "line 2: longer than 64 MiB" {
			t.Errorf("got %v", err)
		}
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	first := `{"at_s":0,"spec_replicas":1}`
	tests := []struct{ name, text, want string }{
		{"not JSON", "{]", "line 1: invalid character ']' looking for beginning of object key string"},
		{"cut off", `{"name":`, "line 1: the line ends within the scenario"},
		{"no object", "[]", "line 1: the scenario: must be an object, is array"},
		{"two on a line", line(first) + " {}", "line 1: something follows the scenario on its line"},
		{"nothing said", "{}", `line 1: scenario "": workload: max_replicas is missing`},
		{"a later line", line(first) + "\n\n{}", `line 3: scenario "": workload: max_replicas is missing`},
		{"an unknown key", `{"nane":"x"}`, `line 1: unknown field "nane"`},
		{
			"a wrong type", `{"workload":{"max_replicas":"many"}}`,
			"line 1: workload.max_replicas: must be a whole number of 32 bits, is string",
		},
		{
			"a list for an object", `{"workload":{"metrics":{}}}`,
			"line 1: workload.metrics: must be a list, is object",
		},
		{"half a second", line(`{"at_s":0.5}`), `line 1: cannot use "0.5" as whole seconds`},
		{"an age", line(`{"at_s":99999999999}`), "line 1: cannot use 99999999999 s: must be within ±4294967296 s"},
		{"no steps", line(""), `line 1: scenario "q": steps: must hold at least one step`},
		{"no time", line(`{"spec_replicas":1}`), `line 1: scenario "q": steps[0]: at_s is missing`},
		{
			"no replicas", line(`{"at_s":0}`),
			`line 1: scenario "q": steps[0]: spec_replicas is missing; nothing came before`,
		},
		{
			"back in time", line(first + `,{"at_s":-1}`),
			`line 1: scenario "q": steps[1]: at_s: must not be before the last step (0), is -1`,
		},
		{
			"a phase", line(`{"at_s":0,"spec_replicas":1,"instances":[{"id":"a"},{"id":"b","phase":"gone"}]}`),
			`line 1: scenario "q": steps[0]: instances[1].phase: must be one of failed, pending, running, ` +
				`succeeded, unknown, is "gone"`,
		},
		{
			"one instance twice", line(`{"at_s":0,"spec_replicas":1,"instances":[{"id":"a"},{"id":"a"}]}`),
			`line 1: scenario "q": steps[0]: instances[1].id: "a" is listed twice`,
		},
		{
			"a fault", line(`{"at_s":0,"spec_replicas":1,"faults":{"set_target":"no"}}`),
			`line 1: scenario "q": steps[0]: faults.set_target: must be one of conflict, conflict_once, ` +
				`error, is "no"`,
		},
		{
			"too many samples", line(`{"at_s":0,"spec_replicas":1,"samples":[{},{}]}`),
			`line 1: scenario "q": steps[0]: samples: must hold at most one entry per metric (1), holds 2`,
		},
		{
			"a tolerance", strings.Replace(line(first), `"max_replicas":10`,
				`"max_replicas":10,"behavior":{"scale_up":{"tolerance":"ten"}}`, 1),
			`line 1: scenario "q": workload: behavior.scale_up.tolerance: cannot read tolerance "ten": ` +
				`want a number with an optional suffix such as "250m", "1.5" or "512Mi"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := read(test.text)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzReadAndRun(f *testing.F) {
	f.Add(line(`{"at_s":0,"spec_replicas":2,"samples":[{"values":[{"value_milli":6000}]}]}`))
	f.Add(line(`{"at_s":0,"spec_replicas":0,"restart":true,"selector":"missing"},{"at_s":9,"faults":{"set_target":"conflict"}}`))
	f.Add(`{"workload":{"max_replicas":9,"behavior":{"scale_down":{"tolerance":"0.1"}},"metrics":[{"type":"resource",` +
		`"name":"cpu","target":{"type":"utilization","value":50}}]},"steps":[{"at_s":0,"spec_replicas":2,"instances":` +
		`[{"id":"a","requests":{"cpu":4611686018427387904}},{"id":"b","containers":[{"name":"x","kind":"init"}],` +
		`"instance_requests":{"memory":1}}],"samples":[{"values":[{"instance":"a","value_milli":1}]}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for s, err := range scenario.Read(strings.NewReader(text)) {
			if err != nil {
				return
			}
			if got := scenario.Run(s); len(got.Steps) != len(s.Steps) {
				t.Errorf("%d results of %d steps", len(got.Steps), len(s.Steps))
			}
		}
	})
}
