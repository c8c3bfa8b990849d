package measured

import (
	"math"
	"testing"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

func TestMemoryBeyondAQuantityIsAbsent(t *testing.T) {
	at := time.Unix(1, 0)
	const most = math.MaxInt64 / 1000
	if got, want := Memory(most, at), (algorithm.Sample{Present: true, Value: most * 1000, Time: at}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Memory(most+1, at); got.Present {
		t.Errorf("got %+v, want none", got)
	}
}

func TestOnlyTheOneContainerOfAnInstanceIsTheWhole(t *testing.T) {
	container := func(name string) algorithm.Container { return algorithm.Container{Name: name} }
	for _, test := range []struct {
		name       string
		containers []algorithm.Container
		want       bool
	}{
		{"", nil, true},
		{"", []algorithm.Container{container("a"), container("b")}, true},
		{"a", []algorithm.Container{container("a")}, true},
		{"a", []algorithm.Container{container("a"), container("b")}, false},
		{"a", []algorithm.Container{container("b")}, false},
		{"a", nil, false},
	} {
		if got := IsPart(test.name, &targets.Instance{Instance: algorithm.Instance{Containers: test.containers}}); got != test.want {
			t.Errorf("%q of %v: got %t", test.name, test.containers, got)
		}
	}
}
