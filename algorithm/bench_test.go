package algorithm_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// BenchmarkDecide is one evaluation of a workload at rest, every 15 s. BenchmarkMaps is the yardstick
// beside it: the replicas of one CPU metric alone, computed the customary way.
//
//	go test -run '^$' -bench . -cpu 1 ./algorithm
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("cpu/instances=%d", n), func(b *testing.B) { benchmark(b, atRest(n)) })
	}
	b.Run("behavior/instances=10", func(b *testing.B) { benchmark(b, held(10)) })
	b.Run("external/instances=10", func(b *testing.B) { benchmark(b, external(10)) })
}

func benchmark(b *testing.B, l *loop) {
	b.ReportAllocs()
	for b.Loop() {
		l.turn()
	}
}

// TestAnEvaluationAtRestAllocatesTwice counts the metrics' results and the list of recommendations,
// which the caller keeps.
func TestAnEvaluationAtRestAllocatesTwice(t *testing.T) {
	for name, l := range map[string]*loop{
		"1 instance": atRest(1), "1000 instances": atRest(1000), "external metric": external(10),
	} {
		if allocs := testing.AllocsPerRun(100, l.turn); allocs > 2 {
			t.Errorf("%s: %v allocations per evaluation, want at most 2", name, allocs)
		}
		if l.moved {
			t.Errorf("%s: not at rest", name)
		}
	}
}

// loop is a workload evaluated again and again, as the daemon does.
type loop struct {
	now   time.Time
	spec  algorithm.Spec
	state algorithm.State
	obs   algorithm.Observation
	// moved is true once an evaluation failed or wanted to scale.
	moved bool
}

func (l *loop) turn() {
	l.now = l.now.Add(15 * time.Second)
	decision, state := algorithm.Decide(l.now, &l.spec, l.state, &l.obs)
	l.state = state
	l.moved = l.moved || decision.Rescale || decision.Err != nil
}

// filled runs the loop until its windows are as full as they get.
func (l *loop) filled() *loop {
	for range 300 {
		l.turn()
	}
	return l
}

// atRest has n ready instances that use 80 % of their CPU request, as they should.
func atRest(n int) *loop {
	l := &loop{
		now:  time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		spec: algorithm.Spec{MinReplicas: 1, MaxReplicas: 2000, Settings: algorithm.DefaultSettings()},
		obs:  algorithm.Observation{SpecReplicas: int32(n), StatusReplicas: int32(n)},
	}
	l.spec = l.spec.WithDefaults()
	var reading algorithm.Reading
	for i := range n {
		l.obs.Instances = append(l.obs.Instances, algorithm.Instance{
			ID: fmt.Sprintf("web-%d", i), Started: l.now.Add(-time.Hour), ReadyTransition: l.now.Add(-time.Hour),
			Containers: []algorithm.Container{{
				Name:     "main",
				Requests: []algorithm.Request{{Resource: "cpu", Value: 1000}, {Resource: "memory", Value: 1 << 40}},
			}},
		})
		reading.PerInstance = append(reading.PerInstance,
			algorithm.Sample{Present: true, Value: 800, Time: l.now, Window: time.Minute})
	}
	l.obs.Readings = []algorithm.Reading{reading}
	return l.filled()
}

// held wants to grow, has an hour of recommendations and scale events, and is held by its policies.
func held(n int) *loop {
	l := atRest(n)
	hour := time.Hour
	rules := algorithm.Rules{StabilizationWindow: &hour, Policies: []algorithm.Policy{
		{Type: algorithm.PolicyInstances, Value: 4, Period: 30 * time.Minute},
		{Type: algorithm.PolicyPercent, Value: 10, Period: 30 * time.Minute},
	}}
	up := rules
	up.StabilizationWindow = nil
	l.spec.Behavior = &algorithm.Behavior{ScaleUp: up, ScaleDown: rules}
	l.spec = l.spec.WithDefaults()
	for i := range 40 {
		at := l.now.Add(-time.Duration(i) * 30 * time.Second)
		event := algorithm.ScaleEvent{Replicas: 2, Time: algorithm.InstantOf(at)}
		l.state.Memory.ScaleUps = append(l.state.Memory.ScaleUps, event)
	}
	for i := range l.obs.Readings[0].PerInstance {
		l.obs.Readings[0].PerInstance[i].Value = 1000
	}
	return l.filled()
}

// external has ten series whose sum is what it should be.
func external(n int) *loop {
	l := atRest(n)
	l.spec.Metrics = []algorithm.Metric{{
		Type: algorithm.TypeExternal, Name: "queue",
		Target: algorithm.TargetValue{Kind: algorithm.KindAverageValue, Value: 1000},
	}}
	l.spec = l.spec.WithDefaults()
	l.obs.Readings = []algorithm.Reading{{}}
	for range 10 {
		l.obs.Readings[0].Values = append(l.obs.Readings[0].Values, algorithm.Quantity(n*100))
	}
	return l.filled()
}

// BenchmarkMaps computes the replicas for a CPU utilization with maps by the instances' names, in
// the steps the HPA's calculator takes; it neither remembers nor limits nor explains anything.
func BenchmarkMaps(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("cpu/instances=%d", n), func(b *testing.B) {
			l := atRest(n)
			c := byMaps{now: l.now, settings: l.spec.Settings, target: 80, current: int32(n)}
			b.ReportAllocs()
			for b.Loop() {
				replicas, err := c.replicas(l.obs.Instances, l.obs.Readings[0].PerInstance)
				if err != nil || replicas != int32(n) {
					b.Fatal(replicas, err)
				}
			}
		})
	}
}

type byMaps struct {
	now      time.Time
	settings algorithm.Settings
	target   int64
	current  int32
}

func (c *byMaps) replicas(instances []algorithm.Instance, answer []algorithm.Sample) (int32, error) {
	samples := make(map[string]algorithm.Sample, len(answer))
	for i, sample := range answer {
		samples[instances[i].ID] = sample
	}
	listed := make([]*algorithm.Instance, 0, len(instances))
	for i := range instances {
		listed = append(listed, &instances[i])
	}
	ready, unready, missing, ignored := c.group(listed, samples)
	for id := range ignored {
		delete(samples, id)
	}
	for id := range unready {
		delete(samples, id)
	}
	requests, err := cpuRequests(listed)
	if err != nil {
		return 0, err
	}
	if len(samples) == 0 {
		return 0, errors.New("no samples")
	}
	ratio, err := c.ratio(samples, requests)
	if err != nil {
		return 0, err
	}
	if len(missing) > 0 || len(unready) > 0 && ratio > 1 {
		return 0, errors.New("not at rest")
	}
	if math.Abs(1-ratio) <= c.settings.Tolerance {
		return c.current, nil
	}
	return int32(math.Ceil(ratio * float64(ready))), nil
}

type names map[string]struct{}

func (c *byMaps) group(listed []*algorithm.Instance, samples map[string]algorithm.Sample) (
	ready int, unready, missing, ignored names,
) {
	unready, missing, ignored = names{}, names{}, names{}
	for _, in := range listed {
		sample, found := samples[in.ID]
		switch {
		case in.Deleting || in.Phase == algorithm.PhaseFailed:
			ignored[in.ID] = struct{}{}
		case in.Phase == algorithm.PhasePending:
			unready[in.ID] = struct{}{}
		case !found:
			missing[in.ID] = struct{}{}
		case c.starting(in, sample):
			unready[in.ID] = struct{}{}
		default:
			ready++
		}
	}
	return ready, unready, missing, ignored
}

func (c *byMaps) starting(in *algorithm.Instance, sample algorithm.Sample) bool {
	if in.Started.Add(c.settings.CPUInitializationPeriod).After(c.now) {
		return in.Ready == algorithm.NotReady ||
			sample.Time.Before(in.ReadyTransition.Add(sample.Window))
	}
	return in.Ready == algorithm.NotReady &&
		in.Started.Add(c.settings.InitialReadinessDelay).After(in.ReadyTransition)
}

func cpuRequests(listed []*algorithm.Instance) (map[string]int64, error) {
	requests := make(map[string]int64, len(listed))
	for _, in := range listed {
		var sum int64
		for _, container := range in.Containers {
			byResource := make(map[string]algorithm.Quantity, len(container.Requests))
			for _, r := range container.Requests {
				byResource[r.Resource] = r.Value
			}
			request, found := byResource["cpu"]
			if !found {
				return nil, fmt.Errorf("no request of %s", in.ID)
			}
			sum += int64(request)
		}
		requests[in.ID] = sum
	}
	return requests, nil
}

func (c *byMaps) ratio(samples map[string]algorithm.Sample, requests map[string]int64) (float64, error) {
	var used, requested int64
	for id, sample := range samples {
		request, found := requests[id]
		if !found {
			continue
		}
		used += int64(sample.Value)
		requested += request
	}
	if requested == 0 {
		return 0, errors.New("no requests")
	}
	return float64(used*100/requested) / float64(c.target), nil
}
