package algorithm_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hpad/hpad/algorithm"
)

// world is what a behaviour script speaks of: a workload, its target and its sources. The commands:
//
//	workload min=1 max=10 …          new rules; history and target stay
//	metric TYPE NAME KIND=VALUE …    one more metric of the workload
//	behavior | scale_up … | scale_down window=30s select=min tolerance=0.2 policy=4/15s policy=10%/1m
//	target 5 [status=3] | missing | invalid | ambiguous | unreadable | refuses TEXT | obeys
//	instances 3 KEY=VALUE …          all instances: i1, i2, i3
//	instance i2 KEY=VALUE …          one more, or another i2
//	sees METRIC i1=250m i2=1@-30s    samples, by default of the time of the evaluation
//	sees METRIC 12 30 | nothing | error TEXT
//	restart                          the memory is lost
//	at 15s                           evaluate, and write the outcome to the target
type world struct {
	rules      algorithm.Spec
	state      algorithm.State
	seen       algorithm.Observation
	answers    map[string][]string
	refusal    error
	replicas   int32
	conditions string
	// status is the count the target says it has at the next evaluation; empty if as it should be.
	status string
}

func newWorld() *world { return &world{answers: map[string][]string{}} }

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func (w *world) do(command string, args []string) ([]string, error) {
	switch command {
	case "workload":
		w.rules = algorithm.Spec{MinReplicas: 1, Settings: algorithm.DefaultSettings()}
		return nil, eachPair(args, w.workload)
	case "metric":
		return nil, w.metric(args)
	case "behavior":
		w.rules.Behavior = &algorithm.Behavior{}
		return nil, nil
	case "scale_up", "scale_down":
		return nil, w.direction(command, args)
	case "target":
		return nil, w.target(args)
	case "instances", "instance":
		return nil, w.instances(command, args)
	case "sees":
		w.answers[args[0]] = args[1:]
		return nil, nil
	case "restart":
		w.state.Memory = algorithm.Memory{}
		return nil, nil
	case "at":
		return w.evaluate(args[0])
	}
	return nil, fmt.Errorf("unknown command %q", command)
}

// eachPair calls set with every key=value; a word alone has an empty value.
func eachPair(args []string, set func(key, value string) error) error {
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		if err := set(key, value); err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
	}
	return nil
}

func (w *world) workload(key, value string) (err error) {
	settings := &w.rules.Settings
	switch key {
	case "min":
		w.rules.MinReplicas, err = integer(value)
	case "max":
		w.rules.MaxReplicas, err = integer(value)
	case "scale_to_zero":
		w.rules.ScaleToZero = true
	case "tolerance":
		settings.Tolerance, err = strconv.ParseFloat(value, 64)
	case "downscale_stabilization":
		settings.DownscaleStabilization, err = time.ParseDuration(value)
	default:
		err = errors.New("unknown key")
	}
	return err
}

func integer(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err
}

func (w *world) metric(args []string) error {
	m := algorithm.Metric{Type: algorithm.MetricType(args[0]), Name: args[1]}
	err := eachPair(args[2:], func(key, value string) error {
		switch key {
		case "container":
			m.Container = value
			return nil
		case "object":
			m.Object = value
			return nil
		}
		m.Target.Kind = algorithm.TargetKind(key)
		if m.Target.Kind == algorithm.KindAverageUtilization {
			n, err := integer(value)
			m.Target.Value = int64(n)
			return err
		}
		q, err := algorithm.ParseQuantity(value)
		m.Target.Value = int64(q)
		return err
	})
	w.rules.Metrics = append(w.rules.Metrics, m)
	return err
}

func (w *world) direction(command string, args []string) error {
	if w.rules.Behavior == nil {
		w.rules.Behavior = &algorithm.Behavior{}
	}
	rules := &w.rules.Behavior.ScaleUp
	if command == "scale_down" {
		rules = &w.rules.Behavior.ScaleDown
	}
	return eachPair(args, func(key, value string) error {
		switch key {
		case "window":
			window, err := time.ParseDuration(value)
			rules.StabilizationWindow = &window
			return err
		case "select":
			rules.SelectPolicy = algorithm.SelectPolicy(value)
			return nil
		case "tolerance":
			f, err := algorithm.ParseTolerance(value)
			rules.Tolerance = &f
			return err
		case "policy":
			p, err := policy(value)
			rules.Policies = append(rules.Policies, p)
			return err
		}
		return errors.New("unknown key")
	})
}

func policy(s string) (p algorithm.Policy, err error) {
	amount, period, _ := strings.Cut(s, "/")
	p.Type = algorithm.PolicyInstances
	if number, percent := strings.CutSuffix(amount, "%"); percent {
		p.Type, amount = algorithm.PolicyPercent, number
	}
	if p.Value, err = integer(amount); err != nil {
		return p, err
	}
	p.Period, err = time.ParseDuration(period)
	return p, err
}

func (w *world) target(args []string) (err error) {
	w.seen.TargetErr, w.seen.Selector = nil, algorithm.SelectorOK
	status := ""
	switch args[0] {
	case "missing":
		w.seen.Selector = algorithm.SelectorMissing
	case "invalid":
		w.seen.Selector = algorithm.SelectorInvalid
	case "ambiguous":
		w.seen.Selector = algorithm.SelectorAmbiguous
	case "unreadable":
		w.seen.TargetErr = errors.New("connection refused")
	case "refuses":
		w.refusal = errors.New(strings.Join(args[1:], " "))
	case "obeys":
		w.refusal = nil
	default:
		w.replicas, err = integer(args[0])
		if len(args) > 1 {
			status = strings.TrimPrefix(args[1], "status=")
		}
	}
	w.status = status
	return err
}

func (w *world) instances(command string, args []string) error {
	in := algorithm.Instance{Containers: []algorithm.Container{{Name: "main"}}, Started: epoch.Add(-time.Hour)}
	in.ReadyTransition = in.Started
	if err := eachPair(args[1:], func(key, value string) error { return instanceKey(&in, key, value) }); err != nil {
		return err
	}
	if command == "instance" {
		in.ID = args[0]
		same := func(other algorithm.Instance) bool { return other.ID == in.ID }
		if i := slices.IndexFunc(w.seen.Instances, same); i >= 0 {
			w.seen.Instances[i] = in
			return nil
		}
		w.seen.Instances = append(w.seen.Instances, in)
		return nil
	}
	n, err := integer(args[0])
	w.seen.Instances = nil
	for i := range n {
		in.ID = fmt.Sprintf("i%d", i+1)
		w.seen.Instances = append(w.seen.Instances, in)
	}
	return err
}

func instanceKey(in *algorithm.Instance, key, value string) (err error) {
	switch key {
	case "phase":
		in.Phase = map[string]algorithm.Phase{
			"pending": algorithm.PhasePending, "failed": algorithm.PhaseFailed,
			"succeeded": algorithm.PhaseSucceeded, "unknown": algorithm.PhaseUnknown,
		}[value]
	case "deleting":
		in.Deleting = true
	case "ready":
		in.Ready = map[string]algorithm.Readiness{
			"no": algorithm.NotReady, "unknown": algorithm.ReadinessUnknown, "absent": algorithm.ReadinessAbsent,
		}[value]
	case "started":
		in.Started, err = moment(value)
		in.ReadyTransition = in.Started
	case "since":
		in.ReadyTransition, err = moment(value)
	default:
		var q algorithm.Quantity
		q, err = algorithm.ParseQuantity(value)
		main := &in.Containers[0]
		main.Requests = append(main.Requests, algorithm.Request{Resource: key, Value: q})
	}
	return err
}

func moment(s string) (time.Time, error) {
	d, err := time.ParseDuration(s)
	return epoch.Add(d), err
}

// evaluate is one turn of the loop: observe, decide, write.
func (w *world) evaluate(at string) ([]string, error) {
	now, err := moment(at)
	if err != nil {
		return nil, err
	}
	w.seen.SpecReplicas, w.seen.StatusReplicas = w.replicas, w.replicas
	if w.status != "" {
		if w.seen.StatusReplicas, err = integer(w.status); err != nil {
			return nil, err
		}
		w.status = ""
	}
	if err := w.read(now); err != nil {
		return nil, err
	}
	decision, state := algorithm.Decide(now, &w.rules, w.state, &w.seen)
	shown := decision.Explain(&w.rules)
	if decision.Rescale {
		state = algorithm.Applied(now, &w.rules, &decision, state, w.refusal)
		if w.refusal == nil {
			w.replicas = decision.Desired
		}
	}
	w.state = state
	return append(shown, w.consequences(&decision)...), nil
}

// consequences are the warnings and, where they changed, the conditions.
func (w *world) consequences(d *algorithm.Decision) (shown []string) {
	for _, event := range d.Events(w.refusal) {
		if event.Warning {
			shown = append(shown, "warning: "+event.Reason)
		}
	}
	var words []string
	for t := range algorithm.ScaledToZero + 1 {
		if c := w.state.Status.Conditions[t]; c.Status != "" {
			words = append(words, fmt.Sprintf("%v %v %s", t, c.Status, c.Reason))
		}
	}
	if text := strings.Join(words, ", "); text != w.conditions {
		w.conditions = text
		shown = append(shown, "conditions: "+text)
	}
	return shown
}

// read asks every metric what the script says it sees.
func (w *world) read(now time.Time) error {
	w.seen.Readings = nil
	for _, m := range w.rules.Metrics {
		reading := algorithm.Reading{PerInstance: make([]algorithm.Sample, len(w.seen.Instances))}
		words := w.answers[m.Name]
		switch {
		case len(words) > 0 && words[0] == "error":
			reading.Err = errors.New(strings.Join(words[1:], " "))
		case len(words) > 0 && words[0] == "nothing":
		default:
			for _, word := range words {
				if err := w.sample(&reading, now, word); err != nil {
					return fmt.Errorf("metric %q sees %q: %w", m.Name, word, err)
				}
			}
		}
		w.seen.Readings = append(w.seen.Readings, reading)
	}
	return nil
}

func (w *world) sample(reading *algorithm.Reading, now time.Time, word string) error {
	id, value, perInstance := strings.Cut(word, "=")
	if !perInstance {
		q, err := algorithm.ParseQuantity(word)
		reading.Values = append(reading.Values, q)
		return err
	}
	value, at, dated := strings.Cut(value, "@")
	q, err := algorithm.ParseQuantity(value)
	if err != nil {
		return err
	}
	sample := algorithm.Sample{Present: true, Value: q, Time: now, Window: time.Minute}
	if dated {
		if sample.Time, err = moment(at); err != nil {
			return err
		}
	}
	listed := false
	for i := range w.seen.Instances {
		if id == "all" || id == w.seen.Instances[i].ID {
			reading.PerInstance[i], listed = sample, true
		}
	}
	if !listed {
		reading.Unlisted = append(reading.Unlisted, sample)
	}
	return nil
}
