package targettest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fakeSubject(replicas int32) (*Subject, *Fake) {
	fakes := &Fakes{}
	fake := fakes.Add("web", replicas)
	fake.InstancesTake(30*time.Millisecond, 20*time.Millisecond)
	return &Subject{
		Connection: fakes,
		Tables:     []options.Table{options.NewTable("/", map[string]any{"name": "web"})},
		Other:      options.NewTable("/", map[string]any{"name": "other"}),
		Spec:       fake.Replicas,
		Change:     fake.Change,
		Remove:     fake.Remove,
		Restore:    func() { fake.Restore(1) },
		Writes:     func() int { return len(fake.Writes()) },
		Hang:       fake.Hang,
		Busy: func() func() {
			fake.Block(targets.Block{Up: true, Down: true, Reason: "Busy", Message: "it is being changed"})
			return func() { fake.Block() }
		},
		Secrets: []string{"hunter2"},
	}, fake
}

func TestFakePassesTheKit(t *testing.T) {
	Run(t, Harness{New: func(_ *testing.T, replicas int32) *Subject {
		s, _ := fakeSubject(replicas)
		return s
	}})
}

// bend is a target whose methods are partly replaced.
type bend struct {
	targets.Target
	id     func(targets.Target) string
	status func(context.Context, targets.Target) (targets.Status, error)
	set    func(context.Context, targets.Target, targets.Status, int32) error
	close  func() error
}

func (b *bend) ID() string {
	if b.id != nil {
		return b.id(b.Target)
	}
	return b.Target.ID()
}

func (b *bend) Status(ctx context.Context) (targets.Status, error) {
	if b.status != nil {
		return b.status(ctx, b.Target)
	}
	return b.Target.Status(ctx)
}

func (b *bend) SetReplicas(ctx context.Context, from targets.Status, replicas int32) error {
	if b.set != nil {
		return b.set(ctx, b.Target, from, replicas)
	}
	return b.Target.SetReplicas(ctx, from, replicas)
}

func (b *bend) Close() error {
	if b.close != nil {
		return b.close()
	}
	return b.Target.Close()
}

type bentConnection struct {
	targets.Connection
	bend func() *bend
}

func (c bentConnection) Bind(table options.Table) (targets.Target, error) {
	target, err := c.Connection.Bind(table)
	b := c.bend()
	b.Target = target
	return b, err
}

// edited is a driver whose Status is changed after it was read.
func edited(edit func(*targets.Status)) func(*Fake) *bend {
	return func(*Fake) *bend {
		return &bend{status: func(ctx context.Context, t targets.Target) (targets.Status, error) {
			status, err := t.Status(ctx)
			edit(&status)
			return status, err
		}}
	}
}

// careless is a driver that writes whatever Status it is given.
func careless(fake *Fake) *bend {
	return &bend{set: func(_ context.Context, _ targets.Target, _ targets.Status, replicas int32) error {
		fake.mu.Lock()
		defer fake.mu.Unlock()
		fake.writes = append(fake.writes, Write{From: fake.spec, To: replicas})
		fake.change(max(0, replicas))
		return nil
	}}
}

// TestKitCatchesBrokenDrivers breaks the driver in one way each, and names a promise that must
// notice.
func TestKitCatchesBrokenDrivers(t *testing.T) {
	for _, test := range []struct {
		promise string
		bend    func(*Fake) *bend
		want    string
	}{
		{"StatusTellsTheTruth", edited(func(s *targets.Status) { s.SpecReplicas++ }), "spec replicas"},
		{"StatusTellsTheTruth", edited(func(s *targets.Status) { s.StatusReplicas = 0 }), "status replicas"},
		{"StatusTellsTheTruth", edited(func(s *targets.Status) { s.Instances = s.Instances[:len(s.Instances)/2] }), "instances"},
		{"StatusTellsTheTruth", edited(func(s *targets.Status) { s.Instances[1].ID = s.Instances[0].ID }), "two instances"},
		{"StatusTellsTheTruth", edited(func(s *targets.Status) { s.Instances[0].Identifiers = nil }), "do not hold its ID"},
		{"StatusTellsTheTruth", edited(func(s *targets.Status) { s.Blocks = []targets.Block{{Up: true}} }), "lacks a reason"},
		{"StatusSeesChangesByOthers", stale, "right after a change"},
		{"MissingTargetIsNotFoundAndMayComeBack", errorOf(targets.Unavailable, "gone"), "want not_found"},
		{"BusyTargetReportsABlockAndRefusesWrites", careless, "no error"},
		{"SetReplicasConverges", func(*Fake) *bend { return &bend{set: nothing} }, "wants 2 replicas"},
		{"GrowthKeepsTheInstances", replacing, "replaced the instance"},
		{"SetTwiceIsOnce", careless, "writes reached"},
		{"SetToTheSameWritesNothing", careless, "writes reached"},
		{"NegativeCountIsRefused", careless, "must refuse"},
		{"ZeroIsReachedOrRefused", func(*Fake) *bend { return &bend{set: nothing} }, "wants 2 replicas"},
		{"ChangeByOthersIsAConflictAndNothingIsWritten", careless, "writes reached"},
		{"ConflictIsOverAfterReadingAgain", careless, "writes reached"},
		{"CancelledCallsWriteNothing", careless, "writes reached"},
		{"StatusReturnsSoonAfterItsContextEnds", deaf, "still not back"},
		{"SetReplicasCutOffIsUncertainOrNotSent", errorOf(targets.Conflict, "cut off"), "want uncertain"},
		{"CallsAtTheSameTimeDoNotDisturbEachOther", errorOf(targets.Unavailable, "crowded"), "crowded"},
		{"EqualTargetsHaveOneID", func(*Fake) *bend { return &bend{id: func(t targets.Target) string { return fmt.Sprintf("%p", &t) }} }, "means"},
		{"DifferentTargetsHaveDifferentIDs", func(*Fake) *bend { return &bend{id: func(targets.Target) string { return "x" }} }, "two targets"},
		{"ClosedTargetLeavesOthersAlone", stopping, "Close changed"},
		{"NegativeCountIsRefused", errorOf(targets.Invalid, "wrong password hunter2"), "holds a secret"},
		{"NegativeCountIsRefused", unclassed, "has no class"},
		{"SetToTheSameWritesNothing", closesOnce, "the second Close"},
	} {
		t.Run(test.promise+"/"+test.want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := examineBent(t, test.promise, test.bend)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("the kit says %v, want %q", err, test.want)
				}
			})
		})
	}
}

func examineBent(t *testing.T, name string, bend func(*Fake) *bend) error {
	s, fake := fakeSubject(startReplicas)
	s.Connection = bentConnection{s.Connection, onceEach(fake, bend)}
	s.settle = 10 * time.Second
	for _, p := range promises() {
		if p.name == name {
			return s.examine(t.Context(), p)
		}
	}
	return errors.New("there is no such promise")
}
