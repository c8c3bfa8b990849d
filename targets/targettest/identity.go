package targettest

import (
	"context"
	"errors"
	"fmt"

	"github.com/hpad/hpad/targets"
)

func identityPromises() []promise {
	return []promise{
		{name: "EqualTargetsHaveOneID", check: equalIDs},
		{name: "DifferentTargetsHaveDifferentIDs", check: differentIDs, needs: func(s *Subject) bool { return s.Other != nil }},
		{name: "ClosedTargetLeavesOthersAlone", check: closeOne},
	}
}

func equalIDs(_ context.Context, s *Subject, target targets.Target) error {
	if target.ID() == "" {
		return errors.New("the ID is empty")
	}
	for i, table := range s.Tables {
		same, err := s.Connection.Bind(table)
		if err != nil {
			return fmt.Errorf("Bind of table %d: %w", i, err)
		}
		if same.ID() != target.ID() {
			err = fmt.Errorf("table %d means the target %q, table 0 means %q", i, same.ID(), target.ID())
		}
		if err := errors.Join(err, same.Close()); err != nil {
			return err
		}
	}
	return nil
}

func differentIDs(_ context.Context, s *Subject, target targets.Target) error {
	other, err := s.Connection.Bind(s.Other)
	if err != nil {
		return fmt.Errorf("Bind: %w", err)
	}
	if other.ID() == target.ID() {
		err = fmt.Errorf("two targets have the ID %q", other.ID())
	}
	return errors.Join(err, other.Close())
}

func closeOne(ctx context.Context, s *Subject, target targets.Target) error {
	twin, err := s.twin(target)
	if err != nil {
		return err
	}
	if err := twin.Close(); err != nil {
		return fmt.Errorf("Close: %w", err)
	}
	if spec := s.Spec(); spec != startReplicas {
		return fmt.Errorf("Close changed the wanted count to %d", spec)
	}
	if _, err := target.Status(ctx); err != nil {
		return fmt.Errorf("Status after another target of the connection was closed: %w", err)
	}
	return nil
}
