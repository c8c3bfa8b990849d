package sourcetest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

// ResourceHarness is a ResourceReader with something to measure.
type ResourceHarness struct {
	Reader sources.ResourceReader
	// Instances are at least two that run, use some CPU and memory, and have one container each,
	// named "main".
	Instances []targets.Instance
	// Ended is one that does not run.
	Ended targets.Instance
	// Step lets at least a second pass, in which the counters grow, and returns the time of the
	// next evaluation. It is called before the first one too.
	Step func(t *testing.T) time.Time
}

// ResourceReader checks what every ResourceReader promises. Open is called for each promise. With
// fakeTime they are checked in bubbles of testing/synctest, else at the same time.
func ResourceReader(t *testing.T, fakeTime bool, open func(t *testing.T) ResourceHarness) {
	for _, promise := range resourcePromises {
		t.Run(promise.name, func(t *testing.T) {
			check := func(t *testing.T) { promise.check(t, open(t)) }
			if fakeTime {
				synctest.Test(t, check)
				return
			}
			t.Parallel()
			check(t)
		})
	}
}

var resourcePromises = []struct {
	name  string
	check func(t *testing.T, h ResourceHarness)
}{
	{"every instance has samples of both resources", everyInstanceHasSamples},
	{"samples are parallel to instances", samplesAreParallel},
	{"one evaluation time has one answer", oneTimeOneAnswer},
	{"what does not run has no sample", endedHasNoSample},
	{"a container is measured by its own name only", containerByName},
	{"an unknown resource is unsupported", unknownResource},
	{"no instances have no samples", noInstances},
	{"an ended context ends the reading soon", endedContext},
	{"readings may run at the same time", concurrent},
}

var bothResources = []string{"cpu", "memory"}

func readAll(t *testing.T, h ResourceHarness, resource, container string, instances []targets.Instance, at time.Time) []algorithm.Sample {
	t.Helper()
	samples, err := h.Reader.ReadResource(t.Context(), resource, container, instances, at)
	if err != nil {
		t.Fatalf("cannot read %q: %v", resource, err)
	}
	if len(samples) != len(instances) {
		t.Fatalf("%d samples of %d instances", len(samples), len(instances))
	}
	return samples
}

// warm makes the reading that the next CPU sample is measured from.
func warm(t *testing.T, h ResourceHarness) {
	t.Helper()
	at := h.Step(t)
	for _, resource := range bothResources {
		readAll(t, h, resource, "", h.Instances, at)
	}
}

func everyInstanceHasSamples(t *testing.T, h ResourceHarness) {
	warm(t, h)
	for range 2 {
		at := h.Step(t)
		for _, resource := range bothResources {
			for i, s := range readAll(t, h, resource, "", h.Instances, at) {
				checkSample(t, resource, h.Instances[i].ID, s, at)
			}
		}
	}
}

func checkSample(t *testing.T, resource, id string, s algorithm.Sample, at time.Time) {
	t.Helper()
	switch {
	case !s.Present:
		t.Errorf("%s of %q has no sample", resource, id)
	case s.Value <= 0:
		t.Errorf("%s of %q is %d, the instance uses some", resource, id, s.Value)
	case s.Time.After(at):
		t.Errorf("%s of %q is of %v, after the evaluation at %v", resource, id, s.Time, at)
	case resource == "cpu" && s.Window < time.Second:
		t.Errorf("cpu of %q is an average over %v, too short to mean anything", id, s.Window)
	}
}

func samplesAreParallel(t *testing.T, h ResourceHarness) {
	warm(t, h)
	mixed := append([]targets.Instance{h.Ended}, h.Instances...)
	at := h.Step(t)
	for _, resource := range bothResources {
		got := readAll(t, h, resource, "", mixed, at)
		want := append([]algorithm.Sample{{}}, readAll(t, h, resource, "", h.Instances, at)...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s with an instance before that does not run (-want +got):\n%s", resource, diff)
		}
	}
}

func oneTimeOneAnswer(t *testing.T, h ResourceHarness) {
	warm(t, h)
	at := h.Step(t)
	first := map[string][]algorithm.Sample{}
	for _, resource := range bothResources {
		first[resource] = readAll(t, h, resource, "", h.Instances, at)
	}
	for _, resource := range bothResources {
		again := readAll(t, h, resource, "", h.Instances, at)
		if diff := cmp.Diff(first[resource], again); diff != "" {
			t.Errorf("%s asked twice at one time (-first +second):\n%s", resource, diff)
		}
	}
}

func endedHasNoSample(t *testing.T, h ResourceHarness) {
	for range 2 {
		at := h.Step(t)
		for _, resource := range bothResources {
			samples, err := h.Reader.ReadResource(t.Context(), resource, "", []targets.Instance{h.Ended}, at)
			if err == nil && (len(samples) != 1 || samples[0] != algorithm.Sample{}) {
				t.Errorf("%s of an instance that does not run is %+v", resource, samples)
			}
		}
	}
}

func containerByName(t *testing.T, h ResourceHarness) {
	warm(t, h)
	at := h.Step(t)
	for _, resource := range bothResources {
		for i, s := range readAll(t, h, resource, "main", h.Instances, at) {
			checkSample(t, resource, h.Instances[i].ID, s, at)
		}
		for i, s := range readAll(t, h, resource, "another", h.Instances, at) {
			if s.Present {
				t.Errorf("%s of container \"another\" of %q, which has none of that name, is %+v", resource, h.Instances[i].ID, s)
			}
		}
	}
}

func unknownResource(t *testing.T, h ResourceHarness) {
	_, err := h.Reader.ReadResource(t.Context(), "entropy", "", h.Instances, h.Step(t))
	if err == nil || sources.KindOf(err) != sources.Unsupported {
		t.Errorf("the error is %v, must be of kind %v", err, sources.Unsupported)
	}
}

func noInstances(t *testing.T, h ResourceHarness) {
	at := h.Step(t)
	for _, resource := range bothResources {
		readAll(t, h, resource, "", nil, at)
	}
}

func endedContext(t *testing.T, h ResourceHarness) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	at := h.Step(t)
	for _, resource := range bothResources {
		begin := time.Now()
		// Whether there is an answer is up to the reader; that it comes soon is not.
		_, _ = h.Reader.ReadResource(ctx, resource, "", h.Instances, at)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("%s took %v after the context ended", resource, took)
		}
	}
}

func concurrent(t *testing.T, h ResourceHarness) {
	warm(t, h)
	at := h.Step(t)
	results := make(chan error)
	const readers = 8
	for i := range readers {
		go func() {
			_, err := h.Reader.ReadResource(t.Context(), bothResources[i%2], "", h.Instances, at)
			results <- err
		}()
	}
	for range readers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
