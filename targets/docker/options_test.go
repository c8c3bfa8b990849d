package docker

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hpad/hpad/internal/options"
)

func TestAllMistakesInTheTablesAreReported(t *testing.T) {
	_, err := Driver().Open(environment(new(bytes.Buffer)), table("host", "tcp://engine", "timeout", "0s"))
	if problems := options.Split(err); len(problems) != 2 {
		t.Errorf("the problems are %q", problems)
	}
	c := connect(t, "unix:///run/docker.sock")
	defer c.Close()
	for _, test := range []struct {
		values []any
		want   []string // beginnings
	}{
		{nil, []string{"project: must be set, with service; or label"}},
		{[]any{"project", "shop"}, []string{"service: must be the name of a service"}},
		{[]any{"service", "web"}, []string{"project: must be the name of a Compose project"}},
		{[]any{"project", "Shop", "service", "w/b"}, []string{"project: must be", "service: must be"}},
		{[]any{"project", "shop", "service", "web", "label", "a=b"}, []string{"project: project and service exclude label"}},
		{[]any{"label", "a"}, []string{`label: must be like "key=value", is "a"`}},
		{[]any{"label", "=b"}, []string{`label: must be like "key=value"`}},
		{[]any{"label", "a=b", "labels", map[string]any{"a": "c"}}, []string{`label: says otherwise than labels of "a"`}},
		{[]any{"labels", map[string]any{"": "c"}}, []string{"labels: must have no empty key"}},
		{[]any{"labels", map[string]any{"hpad.template": "c"}}, []string{`labels: must not hold "hpad.template"`}},
		{[]any{"projects", "shop"}, []string{`projects: unknown key "projects", did you mean "project"?`}},
	} {
		_, err := c.Bind(table(test.values...))
		problems := options.Split(err)
		if len(problems) != len(test.want) {
			t.Errorf("%v: the problems are %q", test.values, problems)
			continue
		}
		for i, problem := range problems {
			if !strings.HasPrefix(problem.Error(), test.want[i]) {
				t.Errorf("%v: the problem is %q, want %q…", test.values, problem, test.want[i])
			}
		}
	}
}

func TestLabelsThatDifferHaveDifferentIDs(t *testing.T) {
	c := connect(t, "unix:///run/docker.sock")
	defer c.Close()
	seen := map[string]int{}
	for i, labels := range []map[string]any{
		{"a": "b"}, {"a": "b&c"}, {"a": "b", "c": ""}, {"a=b": ""}, {"a": "b,c="},
		{labelProject: "p"}, {labelProject: "p", labelService: "s", "x": "y"},
	} {
		id := bind(t, c, table("labels", labels)).ID()
		if j, twice := seen[id]; twice {
			t.Errorf("labels %d and %d have the ID %q", j, i, id)
		}
		seen[id] = i
	}
	if a, b := bind(t, c, table("label", "a=b=c")).ID(), bind(t, c, table("labels", map[string]any{"a": "b=c"})).ID(); a != b {
		t.Errorf("the IDs are %q and %q", a, b)
	}
}
