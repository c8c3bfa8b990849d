package algorithm_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// chance makes random worlds that are plausible most of the time, for it is on the edges of the
// plausible that rules meet: times equal to windows, ratios near 1, counts near bounds.
type chance struct {
	*rand.Rand
	// wild adds numbers nobody would configure or measure.
	wild bool
}

func newChance(seed uint64, wild bool) chance {
	return chance{Rand: rand.New(rand.NewPCG(seed, 9872)), wild: wild}
}

func pick[T any](c chance, from ...T) T { return from[c.IntN(len(from))] }

func (c chance) one(in int) bool { return c.IntN(in) == 0 }

func (c chance) spec() algorithm.Spec {
	s := algorithm.Spec{
		MinReplicas: int32(1 + c.IntN(4)),
		ScaleToZero: c.one(3),
		Settings:    algorithm.DefaultSettings(),
	}
	s.MaxReplicas = s.MinReplicas + int32(pick(c, 0, 3, 10, 100))
	s.Settings.Tolerance = pick(c, 0.1, 0.1, 0, 0.3)
	s.Settings.DownscaleStabilization = pick(c, 0, 30*time.Second, time.Minute, 5*time.Minute, 1500*time.Millisecond)
	s.Settings.CPUInitializationPeriod = pick(c, 0, time.Minute, 5*time.Minute)
	for range c.IntN(4) {
		s.Metrics = append(s.Metrics, c.metric())
	}
	if s.ScaleToZero && c.one(2) {
		s.MinReplicas = 0
	}
	if c.one(2) {
		s.Behavior = &algorithm.Behavior{ScaleUp: c.rules(), ScaleDown: c.rules()}
	}
	if c.wild && c.one(4) {
		s.MinReplicas, s.MaxReplicas = c.replicas(), c.replicas()
		s.Settings.Tolerance = pick(c, math.NaN(), math.Inf(1), -1, 1e300, 2)
		s.Settings.DownscaleStabilization = pick[time.Duration](c, -1, -time.Minute, math.MaxInt64)
	}
	return s
}

func (c chance) metric() algorithm.Metric {
	m := algorithm.Metric{
		Type: pick(c, algorithm.TypeResource, algorithm.TypeContainerResource, algorithm.TypeInstances,
			algorithm.TypeObject, algorithm.TypeExternal),
		Name:      pick(c, "cpu", "cpu", "memory", "queue"),
		Container: pick(c, "main", "main", "sidecar"),
		Object:    pick(c, "", "Ingress"),
	}
	kinds := map[algorithm.MetricType][]algorithm.TargetKind{
		algorithm.TypeInstances: {algorithm.KindAverageValue},
		algorithm.TypeObject:    {algorithm.KindAverageValue, algorithm.KindValue},
		algorithm.TypeExternal:  {algorithm.KindAverageValue, algorithm.KindValue},
	}[m.Type]
	if kinds == nil {
		kinds = []algorithm.TargetKind{algorithm.KindAverageUtilization, algorithm.KindAverageValue}
	}
	m.Target.Kind = pick(c, kinds...)
	m.Target.Value = pick[int64](c, 10, 50, 80, 150)
	if c.wild && c.one(4) {
		m.Target.Value = int64(c.quantity())
	}
	if c.one(40) {
		m.Type, m.Target.Kind = pick(c, m.Type, "other"), pick(c, m.Target.Kind, "")
	}
	return m
}

func (c chance) rules() (r algorithm.Rules) {
	if c.one(2) {
		w := pick(c, 0, 15*time.Second, 30*time.Second, time.Minute, 5*time.Minute)
		r.StabilizationWindow = &w
	}
	r.SelectPolicy = pick(c, "", algorithm.SelectMax, algorithm.SelectMin, algorithm.SelectDisabled)
	if c.one(3) {
		t := pick(c, 0, 0.05, 0.2, 1)
		r.Tolerance = &t
	}
	if c.one(2) {
		return r
	}
	r.Policies = []algorithm.Policy{}
	for range c.IntN(4) {
		p := algorithm.Policy{
			Type:   pick(c, algorithm.PolicyInstances, algorithm.PolicyPercent),
			Value:  pick[int32](c, 1, 2, 4, 10, 50, 100, 200),
			Period: pick(c, 15*time.Second, 30*time.Second, time.Minute, 10*time.Minute),
		}
		if c.one(50) {
			p.Value = math.MaxInt32
		}
		r.Policies = append(r.Policies, p)
	}
	return r
}

func (c chance) replicas() int32 {
	return pick[int32](c, 0, 1, 7, -3, math.MaxInt32, math.MinInt32, int32(c.Uint32()))
}

func (c chance) quantity() algorithm.Quantity {
	return pick[algorithm.Quantity](c, 0, -1, 1, -50, math.MaxInt64, math.MinInt64, 1<<62, 1<<63-100,
		50<<40*1000, algorithm.Quantity(c.Uint64()))
}

// value is a measurement around a level.
func (c chance) value(level int) algorithm.Quantity {
	if c.one(pick(c, 60, 1000)) || c.wild && c.one(3) {
		return c.quantity()
	}
	return algorithm.Quantity(level * (50 + c.IntN(100)) / 100)
}

// advance is the time to the next evaluation, often such that something becomes exactly as old as
// a window or a period.
func (c chance) advance() time.Duration {
	return pick(c, 15*time.Second, 15*time.Second, 15*time.Second, 30*time.Second, time.Minute, 0,
		time.Second, 5*time.Minute, 10*time.Minute, 1234567*time.Microsecond)
}

// observe sees a target of so many replicas.
func (c chance) observe(now time.Time, spec *algorithm.Spec, replicas int32) algorithm.Observation {
	obs := algorithm.Observation{SpecReplicas: replicas, StatusReplicas: replicas}
	if c.one(8) {
		obs.StatusReplicas = max(0, replicas+int32(c.IntN(7)-3))
	}
	if c.one(40) {
		obs.TargetErr = errors.New("out of reach")
	}
	if c.one(40) {
		obs.Selector = algorithm.Selector(1 + c.IntN(3))
	}
	if c.wild && c.one(4) {
		obs.SpecReplicas, obs.StatusReplicas = c.replicas(), c.replicas()
	}
	n := max(0, min(int(obs.SpecReplicas), 12)+pick(c, 0, 0, 0, -2, 2))
	for i := range n {
		obs.Instances = append(obs.Instances, c.instance(i, now))
	}
	metrics := max(1, len(spec.Metrics))
	for i := range metrics {
		level := 100
		if i < len(spec.Metrics) {
			level = int(max(1, min(spec.Metrics[i].Target.Value, 1000)))
		}
		obs.Readings = append(obs.Readings, c.reading(now, level, n))
	}
	if c.one(50) {
		obs.Readings = obs.Readings[:c.IntN(metrics)]
	}
	return obs
}

func (c chance) instance(i int, now time.Time) algorithm.Instance {
	in := algorithm.Instance{ID: fmt.Sprintf("i%d", i), Deleting: c.one(20)}
	if c.one(5) {
		in.Phase = algorithm.Phase(c.IntN(5))
		in.Ready = algorithm.Readiness(c.IntN(4))
	}
	if !c.one(20) {
		in.Started = now.Add(-pick(c, 0, 30*time.Second, time.Minute, 2*time.Minute, 5*time.Minute, time.Hour))
	}
	if !c.one(20) {
		in.ReadyTransition = in.Started.Add(pick(c, 0, 29*time.Second, 30*time.Second, time.Minute))
	}
	request := func() []algorithm.Request {
		amount := pick[algorithm.Quantity](c, 100, 100, 100, 250)
		if c.wild && c.one(5) {
			amount = c.quantity()
		}
		return []algorithm.Request{{Resource: "cpu", Value: amount}, {Resource: "memory", Value: amount * 2}}
	}
	in.Containers = []algorithm.Container{{Name: "main", Requests: request()}}
	if c.one(10) {
		in.Containers = append(in.Containers, algorithm.Container{Name: "sidecar", Requests: request()})
	}
	if c.one(20) {
		in.Requests = request()[:1]
	}
	if c.one(100) {
		in.Containers[0].Requests = nil
	}
	if c.one(100) {
		in.Containers = nil
	}
	return in
}

func (c chance) reading(now time.Time, level, instances int) (r algorithm.Reading) {
	if c.one(20) {
		r.Err = errors.New("no answer")
		return r
	}
	sample := func() algorithm.Sample {
		return algorithm.Sample{
			Present: true, Value: c.value(level), Window: pick(c, 0, 30*time.Second, time.Minute),
			Time: now.Add(-pick(c, 0, 0, 10*time.Second, time.Minute)),
		}
	}
	gaps := pick(c, 3, 1000)
	for range instances {
		s := sample()
		if c.one(gaps) {
			s.Present = false
		}
		r.PerInstance = append(r.PerInstance, s)
	}
	if c.one(20) {
		r.Unlisted = append(r.Unlisted, sample())
	}
	for range pick(c, 1, 1, 1, 0, 3) {
		r.Values = append(r.Values, c.value(level*pick(c, 1, max(1, instances))))
	}
	return r
}
