package daemon

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// readTarget begins an observation with what the target says.
func (e *evaluation) readTarget(ctx context.Context) {
	status, err := e.bound.connection.calls.status(ctx, e.bound.target)
	e.status = status
	if err != nil {
		e.observation = algorithm.Observation{TargetErr: err}
		return
	}
	e.observation = algorithm.Observation{
		SpecReplicas:   status.SpecReplicas,
		StatusReplicas: status.StatusReplicas,
		Instances:      instances(status.Instances, e.bound.config.Requests),
	}
}

// readMetrics asks for the samples of all metrics at once. An error becomes part of the
// observation.
func (e *evaluation) readMetrics(ctx context.Context) {
	feeds := e.bound.feeds
	readings := make([]algorithm.Reading, len(feeds))
	e.remarks = make([][]string, len(feeds))
	if len(feeds) == 1 {
		readings[0], e.remarks[0] = e.read(ctx, &feeds[0])
	} else {
		var wg sync.WaitGroup
		for i := range feeds {
			wg.Go(func() {
				err := guarded(func() error {
					readings[i], e.remarks[i] = e.read(ctx, &feeds[i])
					return nil
				})
				if err != nil {
					readings[i] = algorithm.Reading{Err: err}
				}
			})
		}
		wg.Wait()
	}
	e.observation.Readings = readings
}

// read asks for the samples of one metric, and returns what the source remarked.
func (e *evaluation) read(ctx context.Context, f *feed) (algorithm.Reading, []string) {
	if !f.byQuery() {
		return e.readResource(ctx, f), nil
	}
	result, err := e.round.query(ctx, f.source, f.query())
	if err != nil {
		return algorithm.Reading{Err: err}, nil
	}
	reading := f.join(result, e.status.Instances, e.at)
	if reading.Err != nil {
		e.metrics.calls.unusable(f.source.name, reading.Err)
	}
	return reading, result.Warnings()
}

// readResource measures the instances.
func (e *evaluation) readResource(ctx context.Context, f *feed) algorithm.Reading {
	samples, err := f.source.resources.ReadResource(ctx, f.spec.Name, f.spec.Container, e.status.Instances, e.at)
	isPresent := func(s algorithm.Sample) bool { return s.Present }
	if err == nil && len(e.status.Instances) > 0 && !slices.ContainsFunc(samples, isPresent) {
		err = e.unmeasured(f.spec.Name)
	}
	return algorithm.Reading{PerInstance: samples, Err: err}
}

// unmeasured says that no instance has a sample, and why as far as that is known.
func (e *evaluation) unmeasured(resource string) error {
	why := ""
	if resource == "cpu" {
		why = " (usage over time takes two readings)"
	}
	if warnings := e.status.Warnings; len(warnings) > 0 {
		why = ": " + warnings[0]
	}
	return sources.Errorf(sources.NoData, "none of %d instances has a sample of %q yet%s", len(e.status.Instances), resource, why)
}

// instances returns the instances as the algorithm sees them, with the requests of the
// configuration where the target knows none. What the target returned is not changed.
func instances(read []targets.Instance, requests []algorithm.Request) []algorithm.Instance {
	seen := make([]algorithm.Instance, len(read))
	for i := range read {
		seen[i] = read[i].Instance
		for _, r := range requests {
			seen[i] = withRequest(seen[i], r)
		}
	}
	return seen
}

// withRequest lets the request stand in where the instance, or a container of it, has none for its
// resource.
func withRequest(instance algorithm.Instance, r algorithm.Request) algorithm.Instance {
	missing := len(instance.Containers) == 0
	containers := make([]algorithm.Container, len(instance.Containers))
	for i, c := range instance.Containers {
		containers[i] = c
		if !requested(c.Requests, r.Resource) {
			missing = true
			containers[i].Requests = append(slices.Clip(c.Requests), r)
		}
	}
	instance.Containers = containers
	if missing && !requested(instance.Requests, r.Resource) {
		instance.Requests = append(slices.Clip(instance.Requests), r)
	}
	return instance
}

func requested(requests []algorithm.Request, resource string) bool {
	return slices.ContainsFunc(requests, func(r algorithm.Request) bool { return r.Resource == resource })
}

// join turns the answer to a query into the reading of the metric.
func (f *feed) join(result *sources.Result, instances []targets.Instance, at time.Time) (r algorithm.Reading) {
	m := &f.metric
	switch f.spec.Type {
	case algorithm.TypeObject:
		r.Values, r.Err = sources.Object(result, m.Select, m.MaxAge, at)
	case algorithm.TypeExternal:
		r.Values, r.Err = sources.External(result, m.Select, m.MaxAge, at)
	default:
		r.PerInstance, r.Unlisted, r.Err = sources.PerInstance(result, m.Select, m.InstanceLabel, instances, m.MaxAge, at)
	}
	return r
}

// warnings are what the target and the sources remarked in this evaluation.
func (e *evaluation) warnings() []string {
	all := e.status.Warnings
	for _, remarks := range e.remarks {
		all = append(all[:len(all):len(all)], remarks...)
	}
	return all
}
