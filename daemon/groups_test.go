package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/daemon/config"
)

// asking is a workload that asks queries of a source.
func asking(name string, s *source, queries ...string) *workload {
	b := &binding{config: &config.Workload{Name: name}}
	for _, q := range queries {
		b.feeds = append(b.feeds, feed{source: s, metric: config.Metric{Query: q}})
	}
	return newWorkload(b, quietEnvironment().Log, time.Time{})
}

func TestWorkloadsThatShareQueriesFormGroups(t *testing.T) {
	one, other := &source{name: "one"}, &source{name: "other"}
	var names [][]string
	for _, g := range groups([]*workload{
		asking("a", one, "x"),
		asking("b", one, "y"),
		asking("alone", one, "z"),
		asking("c", one, "y", "x"),
		asking("elsewhere", other, "x"),
		asking("unasked", one, ""),
		asking("unasked too", one, ""),
	}) {
		var members []string
		for _, w := range g {
			members = append(members, w.name)
		}
		names = append(names, members)
	}
	want := [][]string{{"a", "b", "c"}, {"alone"}, {"elsewhere"}, {"unasked"}, {"unasked too"}}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func TestPhaseDoesNotDependOnTheOrder(t *testing.T) {
	s := &source{}
	a, b := asking("a", s, "x"), asking("b", s, "x")
	if (group{a, b}).offset(time.Hour) != (group{b, a}).offset(time.Hour) {
		t.Error("the phase of a group changes with the order of its members")
	}
	if (group{a}).offset(time.Hour) == (group{b}).offset(time.Hour) {
		t.Error("two names have one phase")
	}
}

func TestPhasesAreSpreadEvenly(t *testing.T) {
	perSecond := make([]int, 15)
	for i := range 10000 {
		w := asking(fmt.Sprintf("w%d", i), &source{})
		perSecond[(group{w}).offset(15*time.Second)/time.Second]++
	}
	for second, n := range perSecond {
		if n < 550 || n > 800 {
			t.Errorf("second %d has %d of 10000 workloads, want about 667", second, n)
		}
	}
}

func TestNextTurnIsAtThePhaseAndInTheFuture(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 7, 0, time.UTC)
	for offset, want := range map[time.Duration]time.Duration{0: 8 * time.Second, 6 * time.Second: 14 * time.Second, 7 * time.Second: 15 * time.Second, 8 * time.Second: time.Second} {
		if got := nextAt(now, 15*time.Second, offset).Sub(now); got != want {
			t.Errorf("7s into the period, the phase %s is %s away, want %s", offset, got, want)
		}
	}
}

func TestRequestsStandInOnlyWhereTheTargetKnowsNone(t *testing.T) {
	cpu := func(v algorithm.Quantity) algorithm.Request { return algorithm.Request{Resource: "cpu", Value: v} }
	for _, c := range []struct {
		name     string
		instance algorithm.Instance
		want     algorithm.Instance
	}{
		{
			"an instance without parts",
			algorithm.Instance{},
			algorithm.Instance{Containers: []algorithm.Container{}, Requests: []algorithm.Request{cpu(500)}},
		},
		{
			"a request of the instance",
			algorithm.Instance{Requests: []algorithm.Request{cpu(100)}},
			algorithm.Instance{Containers: []algorithm.Container{}, Requests: []algorithm.Request{cpu(100)}},
		},
		{
			"requests of all containers",
			algorithm.Instance{Containers: []algorithm.Container{{Name: "a", Requests: []algorithm.Request{cpu(100)}}}},
			algorithm.Instance{Containers: []algorithm.Container{{Name: "a", Requests: []algorithm.Request{cpu(100)}}}},
		},
		{
			"a container without one",
			algorithm.Instance{Containers: []algorithm.Container{{Name: "a", Requests: []algorithm.Request{cpu(100)}}, {Name: "b"}}},
			algorithm.Instance{
				Containers: []algorithm.Container{
					{Name: "a", Requests: []algorithm.Request{cpu(100)}}, {Name: "b", Requests: []algorithm.Request{cpu(500)}},
				},
				Requests: []algorithm.Request{cpu(500)},
			},
		},
	} {
		if diff := cmp.Diff(c.want, withRequest(c.instance, cpu(500))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
