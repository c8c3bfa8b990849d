package systemd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// awaitRunning waits until exactly these units run and have no job.
func (s *service) awaitRunning(target targets.Target, want ...int) targets.Status {
	s.t.Helper()
	var status targets.Status
	eventually(s.t, func() error {
		status = mustStatus(s.t, target)
		var got []int
		for i := range status.Instances {
			in := &status.Instances[i]
			if in.Ready == algorithm.Ready && !in.Deleting {
				index, _ := indexOf(s.template(), in.ID)
				got = append(got, int(index))
			}
		}
		if !slices.Equal(got, want) || len(status.Instances) != len(want) {
			return fmt.Errorf("%v of %d units are ready, want %v", got, len(status.Instances), want)
		}
		return nil
	})
	return status
}

func set(t *testing.T, target targets.Target, replicas int32) error {
	t.Helper()
	return target.SetReplicas(t.Context(), mustStatus(t, target), replicas)
}

func TestLowestFreeNumbersComeAndHighestGo(t *testing.T) {
	s := newService(t, notifying)
	target := s.target()
	s.do("start", 2, 7)
	s.awaitRunning(target, 2, 7)
	for _, step := range []struct {
		replicas int32
		want     []int
	}{{5, []int{1, 2, 3, 4, 7}}, {3, []int{1, 2, 3}}, {0, nil}} {
		if err := set(t, target, step.replicas); err != nil {
			t.Fatal(err)
		}
		s.awaitRunning(target, step.want...)
	}
}

func TestUnitsOutsideOfTheRangeAreLeftAlone(t *testing.T) {
	s := newService(t, notifying)
	target := s.target("first_index", int64(10), "max_index", int64(11))
	s.do("start", 1)
	s.manager.Systemctl(t, "start", s.name+"@blue.service", s.name+"@010.service")
	if err := set(t, target, 2); err != nil {
		t.Fatal(err)
	}
	s.awaitRunning(target, 10, 11)
	wantClass(t, set(t, target, 3), targets.OutOfRange)
	if err := set(t, target, 0); err != nil {
		t.Fatal(err)
	}
	s.awaitRunning(target)
	if got := s.running(); !slices.Equal(got, []int{1}) {
		t.Errorf("the units that run are %v, want 1 alone", got)
	}
	state := s.manager.Systemctl(t, "is-active", s.name+"@blue.service", s.name+"@010.service")
	if state != "active\nactive\n" {
		t.Errorf("units without a number of hpad's are %q", state)
	}
}

func TestInstanceSaysWhatSystemdKnows(t *testing.T) {
	s := newService(t, notifying)
	target := s.target()
	begin := time.Now().Add(-time.Second)
	s.do("start", 1)
	got := s.awaitRunning(target, 1).Instances[0]
	if got.PID < 2 || got.Started.Before(begin) || got.ReadyTransition.Before(got.Started) || !strings.HasSuffix(got.Cgroup, "/"+s.unit(1)) {
		t.Errorf("the instance is %+v", got)
	}
	want := []algorithm.Container{{Requests: []algorithm.Request{{Resource: "cpu", Value: 500}, {Resource: "memory", Value: 100 << 20 * 1000}}}}
	if diff := cmp.Diff(want, got.Containers); diff != "" {
		t.Error(diff)
	}
	names := []string{s.unit(1), s.name + "@1", "1", fmt.Sprint(got.PID)}
	if diff := cmp.Diff(names, got.Identifiers); diff != "" {
		t.Error(diff)
	}
}

func TestRestartedUnitIsReadAgain(t *testing.T) {
	s := newService(t, notifying)
	target := s.target()
	s.do("start", 1)
	before := s.awaitRunning(target, 1).Instances[0]
	s.manager.Systemctl(t, "restart", s.unit(1))
	after := mustStatus(t, target).Instances[0]
	pid := strings.TrimSpace(s.manager.Systemctl(t, "show", "--value", "-p", "MainPID", s.unit(1)))
	if fmt.Sprint(after.PID) != pid || !after.Started.After(before.Started) || !after.ReadyTransition.After(before.ReadyTransition) {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

const slow = `[Service]
Type=notify
NotifyAccess=all
ExecStart=/bin/sh -c 'while [ -e HOLD ]; do sleep 0.05; done; systemd-notify --ready; exec sleep 1000'
`

func TestUnitThatIsNotReadyYetIsPendingAndHoldsNothing(t *testing.T) {
	s := newService(t, slow)
	target := s.target()
	end := s.holdOn()
	s.do("start", 1)
	eventually(t, func() error {
		status := mustStatus(t, target)
		if status.SpecReplicas != 1 || len(status.Instances) != 1 || status.Instances[0].PID == 0 || len(status.Blocks) > 0 {
			return fmt.Errorf("status is %+v", status)
		}
		if in := status.Instances[0]; in.Ready != algorithm.NotReady || in.Phase != algorithm.PhasePending {
			t.Errorf("the instance is %+v", in)
		}
		return nil
	})
	if err := set(t, target, 2); err != nil {
		t.Errorf("a start that is under way holds growth: %v", err)
	}
	end()
	s.awaitRunning(target, 1, 2)
}

const failing = `[Service]
ExecStart=/bin/sh -c '[ %i != 1 ] && exec sleep 1000; exit 3'
`

func TestFailedUnitCountsAndGoesFirst(t *testing.T) {
	s := newService(t, failing)
	target := s.target()
	s.do("start", 1, 2, 3)
	var status targets.Status
	eventually(t, func() error {
		if status = mustStatus(t, target); len(status.Warnings) == 0 {
			return errors.New("no warning")
		}
		return nil
	})
	want := fmt.Sprintf("1 failed and systemd does not restart them: %s (exit-code)", s.unit(1))
	if status.SpecReplicas != 3 || status.Warnings[0] != want || status.Instances[0].Phase != algorithm.PhaseFailed {
		t.Errorf("status is %+v", status)
	}
	if err := set(t, target, 2); err != nil {
		t.Fatal(err)
	}
	s.awaitRunning(target, 2, 3)
}

const crashing = `[Service]
Restart=always
RestartSec=1000
ExecStart=/bin/false
[Unit]
StartLimitIntervalSec=0
`

func TestUnitThatWaitsToBeRestartedIsPendingAndCanBeStopped(t *testing.T) {
	s := newService(t, crashing)
	target := s.target()
	if err := set(t, target, 1); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		status := mustStatus(t, target)
		if status.SpecReplicas != 1 || len(status.Instances) != 1 || status.Instances[0].Phase != algorithm.PhasePending || status.Instances[0].PID != 0 {
			return fmt.Errorf("status is %+v", status)
		}
		return nil
	})
	if err := set(t, target, 0); err != nil {
		t.Fatal(err)
	}
	s.awaitRunning(target)
}

func TestMaskedAndBrokenTemplatesSayWhatIsWrong(t *testing.T) {
	s := newService(t, notifying)
	target := s.target()
	s.manager.Systemctl(t, "mask", "--runtime", "--force", s.template())
	defer s.manager.Systemctl(t, "unmask", "--runtime", s.template())
	s.manager.Write(t, s.template(), "") // what is masked at runtime only is masked by no file of the unit's own name
	_, err := target.Status(t.Context())
	wantClass(t, err, targets.NotFound)
	s.manager.Systemctl(t, "unmask", "--runtime", s.template())
	s.manager.Write(t, s.template(), "[Service]\nType=simple\n")
	_, err = target.Status(t.Context())
	wantClass(t, err, targets.Invalid)
}

func TestLostConnectionIsMadeAgain(t *testing.T) {
	s := newService(t, notifying)
	connection, p := s.connect()
	target := s.bind(connection)
	mustStatus(t, target)
	p.cut()
	eventually(t, func() error {
		_, err := target.Status(t.Context())
		return err
	})
}

func TestAnswerThatDoesNotComeAfterTheRequestIsUncertain(t *testing.T) {
	s := newService(t, notifying)
	connection, p := s.connect()
	target := s.bind(connection)
	from := mustStatus(t, target)
	p.holdAt = "StartUnit"
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	wantClass(t, target.SetReplicas(ctx, from, 2), targets.Uncertain)
	p.release()
	eventually(t, func() error {
		_, err := target.Status(t.Context())
		return err
	})
}

func TestSilentBusIsGivenUpAndDialledAgain(t *testing.T) {
	s := newService(t, notifying)
	p := newProxy(t, strings.TrimPrefix(s.manager.Bus(), "unix:path="))
	target := s.bind(connect(t, table("address", "unix:path="+p.path, "timeout", "300ms")))
	mustStatus(t, target)
	p.hang()
	_, err := target.Status(t.Context())
	wantClass(t, err, targets.Unavailable)
	p.release()
	eventually(t, func() error {
		_, err := target.Status(t.Context())
		return err
	})
}

func TestAllWorkloadsShareOneConnectionAndOneList(t *testing.T) {
	s := newService(t, notifying)
	connection, p := s.connect()
	target := s.bind(connection)
	mustStatus(t, target)
	other := s.bind(connection, "first_index", int64(5))
	mustStatus(t, other)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.conns) != 2 { // the two ends of one
		t.Errorf("%d connections", len(p.conns)/2)
	}
}
