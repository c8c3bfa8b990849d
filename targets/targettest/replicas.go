package targettest

import (
	"context"
	"errors"
	"fmt"

	"github.com/hpad/hpad/targets"
)

func replicasPromises() []promise {
	return []promise{
		{name: "SetReplicasConverges", check: setConverges},
		{name: "GrowthKeepsTheInstances", check: growthKeeps},
		{name: "SetTwiceIsOnce", check: setTwice},
		{name: "SetToTheSameWritesNothing", check: setToTheSame},
		{name: "NegativeCountIsRefused", check: negativeRefused},
		{name: "ZeroIsReachedOrRefused", check: zero},
		{name: "DryRunWritesNothing", check: dryRun},
	}
}

// set reads and asks for the count.
func set(ctx context.Context, target targets.Target, replicas int32) error {
	from, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	if err := target.SetReplicas(ctx, from, replicas); err != nil {
		return fmt.Errorf("SetReplicas(%d): %w", replicas, err)
	}
	return nil
}

// setAndSee also checks that the platform and Status know of it at once.
func (s *Subject) setAndSee(ctx context.Context, target targets.Target, replicas int32) error {
	if err := set(ctx, target, replicas); err != nil {
		return err
	}
	if spec := s.Spec(); spec != replicas {
		return fmt.Errorf("the platform wants %d replicas after SetReplicas(%d)", spec, replicas)
	}
	status, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	if status.SpecReplicas != replicas {
		return fmt.Errorf("Status reports %d spec replicas after SetReplicas(%d)", status.SpecReplicas, replicas)
	}
	return nil
}

func setConverges(ctx context.Context, s *Subject, target targets.Target) error {
	for _, replicas := range []int32{startReplicas + 1, 1} {
		if err := s.setAndSee(ctx, target, replicas); err != nil {
			return err
		}
		if err := s.converged(ctx, target, replicas); err != nil {
			return err
		}
	}
	return nil
}

func growthKeeps(ctx context.Context, s *Subject, target targets.Target) error {
	if err := s.converged(ctx, target, startReplicas); err != nil {
		return err
	}
	before, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	if err := target.SetReplicas(ctx, before, startReplicas+1); err != nil {
		return fmt.Errorf("SetReplicas: %w", err)
	}
	if err := s.converged(ctx, target, startReplicas+1); err != nil {
		return err
	}
	after, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	kept := map[string]bool{}
	for i := range after.Instances {
		kept[after.Instances[i].ID] = true
	}
	for i := range before.Instances {
		if id := before.Instances[i].ID; !kept[id] {
			err = errors.Join(err, fmt.Errorf("growth replaced the instance %q", id))
		}
	}
	return err
}

func setTwice(ctx context.Context, s *Subject, target targets.Target) error {
	from, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	if err := target.SetReplicas(ctx, from, startReplicas+1); err != nil {
		return fmt.Errorf("SetReplicas: %w", err)
	}
	return s.nothingWritten(func() error {
		err := target.SetReplicas(ctx, from, startReplicas+1)
		if err == nil || targets.ClassOf(err, true) == targets.Conflict {
			return set(ctx, target, startReplicas+1)
		}
		return fmt.Errorf("the second SetReplicas: %w", err)
	})
}

func setToTheSame(ctx context.Context, s *Subject, target targets.Target) error {
	return s.nothingWritten(func() error { return set(ctx, target, startReplicas) })
}

func negativeRefused(ctx context.Context, s *Subject, target targets.Target) error {
	return s.nothingWritten(func() error {
		return refusedForever(set(ctx, target, -1))
	})
}

// refusedForever checks that an error says that asking again is no use.
func refusedForever(err error) error {
	if err == nil {
		return errors.New("SetReplicas accepts what it must refuse")
	}
	if class := targets.ClassOf(err, true); class != targets.Invalid && class != targets.OutOfRange {
		return fmt.Errorf("the class of %q is %v, want %v or %v", err, class, targets.Invalid, targets.OutOfRange)
	}
	return nil
}

func zero(ctx context.Context, s *Subject, target targets.Target) error {
	if s.refusesZero {
		return s.nothingWritten(func() error { return refusedForever(set(ctx, target, 0)) })
	}
	for _, replicas := range []int32{0, 1} {
		if err := s.setAndSee(ctx, target, replicas); err != nil {
			return err
		}
		if err := s.converged(ctx, target, replicas); err != nil {
			return err
		}
	}
	return nil
}

func dryRun(ctx context.Context, s *Subject, target targets.Target) error {
	dry := targets.DryRun(target)
	return s.nothingWritten(func() error {
		from, err := dry.Status(ctx)
		if err != nil {
			return fmt.Errorf("Status: %w", err)
		}
		if err := dry.SetReplicas(ctx, from, startReplicas+1); !errors.Is(err, targets.ErrDryRun) {
			return fmt.Errorf("SetReplicas of a dry run says %v, want %v", err, targets.ErrDryRun)
		}
		return nil
	})
}
