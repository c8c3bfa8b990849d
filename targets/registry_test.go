package targets_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

func TestUnknownDriverIsAnOptionErrorThatNamesTheKnown(t *testing.T) {
	registry := targets.Registry{{Name: "nomad"}, {Name: "docker-swarm"}}
	for name, want := range map[string]string{
		"docker_swram": `there is no target driver "docker_swram", did you mean "docker-swarm"? (known: docker-swarm, nomad)`,
		"kubernetes":   `there is no target driver "kubernetes" (known: docker-swarm, nomad)`,
	} {
		_, err := registry.Open(name, targets.Environment{}, nil)
		key, message := options.Key(err)
		if key != "driver" || message != want {
			t.Errorf("Open(%q): key %q, message %q", name, key, message)
		}
	}
}

func TestDriverIsFoundByItsName(t *testing.T) {
	opened := errors.New("opened")
	registry := targets.Registry{{Name: "a"}, {Name: "b", Open: func(targets.Environment, options.Table) (targets.Connection, error) {
		return nil, opened
	}}}
	if _, err := registry.Open("b", targets.Environment{}, nil); !errors.Is(err, opened) {
		t.Errorf("Open(b) says %v", err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, registry.Names()); diff != "" {
		t.Error(diff)
	}
}

func TestUnclassedErrorsAreUnavailableOrUncertain(t *testing.T) {
	late := fmt.Errorf("cannot reach x: %w", context.DeadlineExceeded)
	for _, test := range []struct {
		err      error
		mutating bool
		want     targets.Class
	}{
		{late, false, targets.Unavailable},
		{late, true, targets.Uncertain},
		{errors.New("broken"), true, targets.Unavailable},
		{fmt.Errorf("outer: %w", targets.Errorf(targets.Conflict, "inner")), true, targets.Conflict},
		{targets.Errorf(targets.Throttled, "cannot: %w", context.Canceled), true, targets.Throttled},
	} {
		if got := targets.ClassOf(test.err, test.mutating); got != test.want {
			t.Errorf("ClassOf(%v, %v) is %v, want %v", test.err, test.mutating, got, test.want)
		}
	}
}

func TestEveryClassHasAName(t *testing.T) {
	seen := map[string]bool{}
	for class := targets.Unavailable; class <= targets.Uncertain; class++ {
		seen[class.String()] = true
	}
	if len(seen) != int(targets.Uncertain)+1 || seen[""] {
		t.Errorf("names are %v", seen)
	}
}

func TestBlockHoldsItsDirectionOnly(t *testing.T) {
	status := targets.Status{SpecReplicas: 3, Blocks: []targets.Block{{Up: true, Reason: "Up"}, {Up: true, Down: true, Reason: "Both"}}}
	for replicas, want := range map[int32]string{4: "Up", 2: "Both", 3: ""} {
		got := ""
		if block := status.Blocked(replicas); block != nil {
			got = block.Reason
		}
		if got != want {
			t.Errorf("Blocked(%d) is %q, want %q", replicas, got, want)
		}
	}
}
