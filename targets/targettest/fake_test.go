package targettest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

func TestFakeInstancesTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := NewFake("web", 1)
		fake.InstancesTake(10*time.Second, 5*time.Second)
		fake.Request(algorithm.Request{Resource: "cpu", Value: 250})
		target := fake.Target()
		if err := set(t.Context(), target, 2); err != nil {
			t.Fatal(err)
		}
		status, _ := target.Status(t.Context())
		if got := status.Instances[1]; got.Phase != algorithm.PhasePending || got.Ready != algorithm.NotReady {
			t.Errorf("a new instance is %+v", got)
		}
		time.Sleep(10 * time.Second)
		status, _ = target.Status(t.Context())
		got := status.Instances[1]
		if !isReady(&got) || got.ReadyTransition.Sub(got.Started) != 10*time.Second {
			t.Errorf("a started instance is %+v", got)
		}
		if got.Containers[0].Requests[0].Value != 250 {
			t.Errorf("it requests %+v", got.Containers)
		}
		if err := set(t.Context(), target, 1); err != nil {
			t.Fatal(err)
		}
		status, _ = target.Status(t.Context())
		if len(status.Instances) != 2 || !status.Instances[1].Deleting || status.StatusReplicas != 1 {
			t.Errorf("after the removal of one: %+v", status)
		}
		time.Sleep(5 * time.Second)
		if status, _ = target.Status(t.Context()); len(status.Instances) != 1 {
			t.Errorf("long after the removal of one: %+v", status)
		}
	})
}

func TestFakeFaultsComeAndGo(t *testing.T) {
	fake := NewFake("web", 1)
	target := fake.Target()
	from, _ := target.Status(t.Context())
	fake.FailStatus(targets.Errorf(targets.Throttled, "too many"))
	fake.FailSet(targets.Errorf(targets.Capacity, "full"))
	if _, err := target.Status(t.Context()); targets.ClassOf(err, false) != targets.Throttled {
		t.Errorf("Status says %v", err)
	}
	if err := target.SetReplicas(t.Context(), from, 2); targets.ClassOf(err, true) != targets.Capacity {
		t.Errorf("SetReplicas says %v", err)
	}
	fake.FailStatus(nil)
	fake.FailSet(nil)
	fake.LoseAnswers(true)
	if err := target.SetReplicas(t.Context(), from, 2); targets.ClassOf(err, true) != targets.Uncertain {
		t.Errorf("SetReplicas says %v", err)
	}
	fake.LoseAnswers(false)
	status, err := target.Status(t.Context())
	if err != nil || status.SpecReplicas != 2 {
		t.Errorf("after a lost answer: %+v, %v", status, err)
	}
	if writes := fake.Writes(); len(writes) != 1 || writes[0].From != 1 || writes[0].To != 2 {
		t.Errorf("writes are %+v", writes)
	}
}

func TestFakeDelayIsCutOffByTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := NewFake("web", 1)
		fake.Delay(time.Second, time.Hour)
		start := time.Now()
		if err := set(t.Context(), fake.Target(), 1); err != nil || time.Since(start) != time.Hour+time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestFakesAreBoundByNameAndUnknownOnesAreNotFound(t *testing.T) {
	fakes := &Fakes{}
	fakes.Add("web", 3)
	connection, err := fakes.Driver().Open(targets.Environment{}, options.NewTable("/", nil))
	if err != nil {
		t.Fatal(err)
	}
	target, err := connection.Bind(options.NewTable("/", map[string]any{"name": "web"}))
	if err != nil {
		t.Fatal(err)
	}
	if status, err := target.Status(t.Context()); err != nil || status.SpecReplicas != 3 {
		t.Errorf("Status says %+v, %v", status, err)
	}
	target, err = connection.Bind(options.NewTable("/", map[string]any{"name": "nowhere"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := target.Status(t.Context()); targets.ClassOf(err, false) != targets.NotFound {
		t.Errorf("Status of an unknown one says %v", err)
	}
	for _, table := range []map[string]any{{}, {"name": "web", "colour": "red"}} {
		if _, err := connection.Bind(options.NewTable("/", table)); err == nil {
			t.Errorf("Bind(%v) has no error", table)
		}
	}
}
