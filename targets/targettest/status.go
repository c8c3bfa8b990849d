package targettest

import (
	"context"
	"fmt"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

func statusPromises() []promise {
	return []promise{
		{name: "StatusTellsTheTruth", check: statusTellsTheTruth},
		{name: "StatusSeesChangesByOthers", check: statusSeesChanges, needs: func(s *Subject) bool { return s.Change != nil }},
		{name: "MissingTargetIsNotFoundAndMayComeBack", check: missingIsNotFound, needs: func(s *Subject) bool { return s.Remove != nil }},
		{name: "BusyTargetReportsABlockAndRefusesWrites", check: busyIsBlocked, needs: func(s *Subject) bool { return s.Busy != nil }},
	}
}

func statusTellsTheTruth(ctx context.Context, s *Subject, target targets.Target) error {
	status, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	if want := s.Spec(); status.SpecReplicas != want {
		return fmt.Errorf("Status reports %d spec replicas, the platform %d", status.SpecReplicas, want)
	}
	return s.converged(ctx, target, startReplicas)
}

func statusSeesChanges(ctx context.Context, s *Subject, target targets.Target) error {
	if err := s.converged(ctx, target, startReplicas); err != nil {
		return err
	}
	for _, replicas := range []int32{startReplicas + 1, startReplicas} {
		s.Change(replicas)
		status, err := target.Status(ctx)
		if err != nil {
			return fmt.Errorf("Status: %w", err)
		}
		if status.SpecReplicas != replicas {
			return fmt.Errorf("Status reports %d spec replicas right after a change to %d", status.SpecReplicas, replicas)
		}
	}
	return nil
}

func missingIsNotFound(ctx context.Context, s *Subject, target targets.Target) error {
	from, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	s.Remove()
	err = s.eventually(ctx, func() error {
		_, err := target.Status(ctx)
		return wantClass(err, false, targets.NotFound)
	})
	if err != nil {
		return fmt.Errorf("Status of a removed target: %w", err)
	}
	if err := wantClass(target.SetReplicas(ctx, from, startReplicas+1), true, targets.NotFound); err != nil {
		return fmt.Errorf("SetReplicas of a removed target: %w", err)
	}
	if s.Restore == nil {
		return nil
	}
	s.Restore()
	if err := s.converged(ctx, target, 1); err != nil {
		return fmt.Errorf("a target that came back: %w", err)
	}
	return nil
}

func busyIsBlocked(ctx context.Context, s *Subject, target targets.Target) error {
	if err := s.converged(ctx, target, startReplicas); err != nil {
		return err
	}
	end := s.Busy()
	var status targets.Status
	err := s.eventually(ctx, func() (err error) {
		if status, err = target.Status(ctx); err != nil {
			return err
		}
		if status.Blocked(startReplicas+1) == nil {
			return fmt.Errorf("Status of a busy target reports the blocks %+v", status.Blocks)
		}
		return nil
	})
	if err != nil {
		end()
		return err
	}
	err = s.nothingWritten(func() error {
		return wantClass(target.SetReplicas(ctx, status, startReplicas+1), true, targets.Busy)
	})
	end()
	if err != nil {
		return fmt.Errorf("SetReplicas of a busy target: %w", err)
	}
	return s.eventually(ctx, func() error {
		status, err := target.Status(ctx)
		if err != nil || status.Blocked(startReplicas+1) == nil {
			return err
		}
		return fmt.Errorf("the blocks stay: %+v", status.Blocks)
	})
}

// converged waits until Status shows the wanted count, and as many running and ready instances and
// no other.
func (s *Subject) converged(ctx context.Context, target targets.Target, replicas int32) error {
	return s.eventually(ctx, func() error {
		status, err := target.Status(ctx)
		if err != nil {
			return fmt.Errorf("Status: %w", err)
		}
		ready := int32(0)
		for i := range status.Instances {
			if isReady(&status.Instances[i]) {
				ready++
			}
		}
		got := [...]int32{status.SpecReplicas, status.StatusReplicas, int32(len(status.Instances)), ready}
		if want := [...]int32{replicas, replicas, replicas, replicas}; got != want {
			return fmt.Errorf("spec replicas, status replicas, instances, ready instances are %v, want %v", got, want)
		}
		return nil
	})
}

func isReady(instance *targets.Instance) bool {
	ready := instance.Ready == algorithm.Ready || instance.Ready == algorithm.ReadinessAbsent
	return ready && instance.Phase == algorithm.PhaseRunning && !instance.Deleting
}
