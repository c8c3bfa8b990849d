package targettest

import (
	"context"
	"fmt"

	"github.com/hpad/hpad/targets"
)

func conflictPromises() []promise {
	changeable := func(s *Subject) bool { return s.Change != nil }
	return []promise{
		{name: "ChangeByOthersIsAConflictAndNothingIsWritten", check: conflict, needs: changeable},
		{name: "ConflictIsOverAfterReadingAgain", check: conflictEnds, needs: changeable},
	}
}

func conflict(ctx context.Context, s *Subject, target targets.Target) error {
	from, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	s.Change(startReplicas + 2)
	return s.nothingWritten(func() error {
		return wantClass(target.SetReplicas(ctx, from, startReplicas+1), true, targets.Conflict)
	})
}

func conflictEnds(ctx context.Context, s *Subject, target targets.Target) error {
	if err := conflict(ctx, s, target); err != nil {
		return err
	}
	// The platform may still be writing its own notes on the change of somebody else.
	return s.eventually(ctx, func() error { return s.setAndSee(ctx, target, startReplicas+1) })
}
