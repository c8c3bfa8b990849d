package targettest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hpad/hpad/targets"
)

// promptly is how soon a call returns after its context has ended, on a busy machine.
const promptly = 5 * time.Second

func cancelPromises() []promise {
	canHang := func(s *Subject) bool { return s.Hang != nil }
	return []promise{
		{name: "CancelledCallsWriteNothing", check: cancelledBefore},
		{name: "StatusReturnsSoonAfterItsContextEnds", check: statusCancelled, needs: canHang},
		{name: "SetReplicasCutOffIsUncertainOrNotSent", check: setCancelled, needs: canHang},
		{name: "CallsAtTheSameTimeDoNotDisturbEachOther", check: concurrent},
	}
}

func cancelledBefore(ctx context.Context, s *Subject, target targets.Target) error {
	from, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	return s.nothingWritten(func() error {
		if _, err := target.Status(ended); err == nil {
			return errors.New("Status with an ended context has no error")
		}
		if err := target.SetReplicas(ended, from, startReplicas+1); err == nil {
			return errors.New("SetReplicas with an ended context has no error")
		}
		return nil
	})
}

// cutOff runs call against a platform that does not answer, and ends its context when the platform
// has had time to receive the request. It returns what the call said, or late if it did not return.
func (s *Subject) cutOff(ctx context.Context, call func(context.Context) error) (said, late error) {
	release := s.Hang()
	defer release()
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call(ctx) }()
	<-ctx.Done()
	select {
	case err := <-done:
		return err, nil
	case <-time.After(promptly):
		release()
		<-done
		return nil, fmt.Errorf("still not back %v after the end of the context", promptly)
	}
}

func statusCancelled(ctx context.Context, s *Subject, target targets.Target) error {
	err, late := s.cutOff(ctx, func(ctx context.Context) error {
		_, err := target.Status(ctx)
		return err
	})
	if late != nil {
		return late
	}
	if err := wantClass(err, false, targets.Unavailable); err != nil {
		return err
	}
	return s.eventually(ctx, func() error {
		_, err := target.Status(ctx)
		return err
	})
}

// setCancelled accepts Unavailable too: a driver that reads before it writes may have been cut off
// before it has sent the change. Then nothing may have changed.
func setCancelled(ctx context.Context, s *Subject, target targets.Target) error {
	from, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	writes := s.writes()
	err, late := s.cutOff(ctx, func(ctx context.Context) error {
		return target.SetReplicas(ctx, from, startReplicas+1)
	})
	if late != nil {
		return late
	}
	if err == nil {
		return errors.New("SetReplicas has no error although the platform did not answer")
	}
	class := targets.ClassOf(err, true)
	sent := s.Writes != nil && s.writes() > writes
	if class != targets.Uncertain && (class != targets.Unavailable || sent) {
		return fmt.Errorf("the class of %q is %v, want %v", err, class, targets.Uncertain)
	}
	return s.eventually(ctx, func() error { return set(ctx, target, startReplicas+1) })
}

func concurrent(ctx context.Context, s *Subject, target targets.Target) error {
	from, err := target.Status(ctx)
	if err != nil {
		return fmt.Errorf("Status: %w", err)
	}
	twin, err := s.twin(target)
	if err != nil {
		return err
	}
	const readers = 8
	failures := make([]error, readers+1)
	var wg sync.WaitGroup
	for i := range readers {
		reader := []targets.Target{target, twin}[i%2]
		wg.Go(func() { _, failures[i] = reader.Status(ctx) })
	}
	wg.Go(func() {
		// The platform may have made notes on the target since, which is a conflict.
		err := target.SetReplicas(ctx, from, startReplicas+1)
		if err != nil && targets.ClassOf(err, true) != targets.Conflict {
			failures[readers] = err
		}
	})
	wg.Wait()
	return errors.Join(errors.Join(failures...), twin.Close())
}
