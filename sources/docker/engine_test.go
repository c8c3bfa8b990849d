package docker

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
	"github.com/hpad/hpad/targets"
)

// nextSecond waits a little more than a second: engines stamp their answers with real time.
func nextSecond(t testing.TB) time.Time {
	select {
	case <-time.After(1100 * time.Millisecond):
	case <-t.Context().Done():
	}
	return time.Now()
}

func TestEngineKeepsTheContract(t *testing.T) {
	for _, version := range []string{"1.41", "1.45"} {
		t.Run(version, func(t *testing.T) {
			sourcetest.ResourceReader(t, false, func(t *testing.T) sourcetest.ResourceHarness {
				e := newFakeEngine(t, version)
				s := newMachine(t).unified().open(preferAuto, e.host)
				used := time.Second
				return sourcetest.ResourceHarness{
					Reader:    s,
					Instances: []targets.Instance{instanceOf(id("a")), instanceOf(id("b"))},
					Ended:     instanceOf(id("c")),
					Step: func(t *testing.T) time.Time {
						at := nextSecond(t)
						used += 200 * time.Millisecond
						e.put(id("a"), counters{used: used, usage: 5000, inactive: 1000})
						e.put(id("b"), counters{used: used, usage: 6000, inactive: 1000})
						return at
					},
				}
			})
		})
	}
}

func TestOneQuestionAnswersBothResources(t *testing.T) {
	e := newFakeEngine(t, "1.45")
	e.put(id("a"), counters{used: time.Second, usage: 5000, inactive: 1000})
	s := newMachine(t).open(preferAPI, e.host)
	at := time.Now()
	readOne(t, s, "cpu", instanceOf(id("a")), at)
	got := readOne(t, s, "memory", instanceOf(id("a")), at)
	if want := (algorithm.Sample{Present: true, Value: 4000_000, Time: at}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := e.count(id("a")); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if path := s.Paths()[id("a")]; path != API {
		t.Errorf("the path is %q", path)
	}
}

func TestAnswersWithoutNumbersAreMissing(t *testing.T) {
	bodies := map[string]string{
		"a container that does not run": `{"read":"0001-01-01T00:00:00Z","cpu_stats":{"cpu_usage":{"total_usage":0}},"memory_stats":{}}`,
		"Podman's":                      `{"cause":"container is stopped","message":"container is stopped","response":500}`,
		"no usage":                      `{"read":"2026-01-01T00:00:00Z","cpu_stats":{"cpu_usage":{"total_usage":0}},"memory_stats":{"usage":1,"stats":{"inactive_file":0}}}`,
		"no time":                       `{"cpu_stats":{"cpu_usage":{"total_usage":5}},"memory_stats":{"usage":1,"stats":{"inactive_file":0}}}`,
		"a container it does not know":  "",
	}
	for name, text := range bodies {
		t.Run(name, func(t *testing.T) {
			e := newFakeEngine(t, "1.45")
			e.set(id("a"), text)
			s := newMachine(t).open(preferAPI, e.host)
			for _, resource := range []string{"cpu", "memory"} {
				if got := readOne(t, s, resource, instanceOf(id("a")), time.Now()); got.Present {
					t.Errorf("%s is %+v", resource, got)
				}
			}
		})
	}
}

func TestMemoryWithoutItsPartsIsMissing(t *testing.T) {
	a, err := readAnswer(strings.NewReader(`{"read":"2026-01-01T00:00:00Z","cpu_stats":{"cpu_usage":{"total_usage":5}},"memory_stats":{"usage":49152}}`))
	if err != nil || !a.running || a.hasMemory {
		t.Errorf("the answer is %+v, %v", a, err)
	}
}

func TestEngineErrorsHaveTheirKind(t *testing.T) {
	tests := map[string]struct {
		code int
		body string
		want sources.Kind
	}{
		"a fault":             {code: http.StatusInternalServerError, want: sources.Unavailable},
		"a proxy's refusal":   {code: http.StatusForbidden, want: sources.Denied},
		"no authentication":   {code: http.StatusUnauthorized, want: sources.Denied},
		"another language":    {body: "<html>", want: sources.Garbled},
		"half of an answer":   {body: `{"read":"2026-01-01T00:00:00Z",`, want: sources.Garbled},
		"a long complaint":    {code: http.StatusInternalServerError, body: `{"message":"` + strings.Repeat("x", 1<<16) + `"}`, want: sources.Unavailable},
		"a far larger answer": {body: `{"x":"` + strings.Repeat("x", maxAnswer) + `"}`, want: sources.Garbled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newFakeEngine(t, "1.45")
			e.set(id("a"), test.body)
			e.fail(id("a"), test.code)
			s := newMachine(t).open(preferAPI, e.host)
			_, err := s.ReadResource(t.Context(), "cpu", "", []targets.Instance{instanceOf(id("a"))}, time.Now())
			if err == nil || sources.KindOf(err) != test.want {
				t.Errorf("the error is %v, must be of kind %v", err, test.want)
			}
			if err != nil && len(err.Error()) > 2*sources.LongestRemark {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestDeadEngineIsUnavailable(t *testing.T) {
	s := newMachine(t).open(preferAuto, noEngine)
	_, err := s.ReadResource(t.Context(), "cpu", "", []targets.Instance{instanceOf(id("a"))}, time.Now())
	if err == nil || sources.KindOf(err) != sources.Unavailable || !strings.Contains(err.Error(), noEngine) {
		t.Errorf("the error is %v", err)
	}
}

func TestOneFailureDoesNotHideOtherSamples(t *testing.T) {
	e := newFakeEngine(t, "1.45")
	e.put(id("a"), counters{used: time.Second, usage: 5000})
	e.fail(id("b"), http.StatusInternalServerError)
	s := newMachine(t).open(preferAPI, e.host)
	got, err := s.ReadResource(t.Context(), "memory", "", []targets.Instance{instanceOf(id("b")), instanceOf(id("a"))}, time.Now())
	if err != nil || got[0].Present || !got[1].Present {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEvaluationThatEndsDoesNotTakeTheAnswerFromAnother(t *testing.T) {
	e := newFakeEngine(t, "1.45")
	e.put(id("a"), counters{used: time.Second, usage: 5000})
	e.hold = make(chan struct{})
	s := newMachine(t).open(preferAPI, e.host)
	at := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.ReadResource(ctx, "memory", "", []targets.Instance{instanceOf(id("a"))}, at)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	close(e.hold)
	if got := readOne(t, s, "memory", instanceOf(id("a")), at); !got.Present {
		t.Error("no sample")
	}
	if n := e.count(id("a")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestCloseEndsOpenQuestions(t *testing.T) {
	e := newFakeEngine(t, "1.45")
	e.put(id("a"), counters{used: time.Second, usage: 5000})
	e.hold = make(chan struct{})
	defer close(e.hold)
	s := newMachine(t).open(preferAPI, e.host)
	done := make(chan error)
	go func() {
		_, err := s.ReadResource(t.Context(), "cpu", "", []targets.Instance{instanceOf(id("a"))}, time.Now())
		done <- err
	}()
	<-e.asking
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("no error of a question that was cut off")
	}
	_, err := s.ReadResource(t.Context(), "cpu", "", []targets.Instance{instanceOf(id("a"))}, time.Now())
	if !errors.Is(err, errClosed) {
		t.Errorf("after Close the error is %v", err)
	}
}

func TestContainerWithoutGroupIsLookedForAgainWhenItStarts(t *testing.T) {
	e := newFakeEngine(t, "1.45")
	a := id("a")
	e.put(a, counters{used: time.Second, usage: 5000})
	m := newMachine(t).unified()
	s := m.open(preferAuto, e.host)
	in := instanceOf(a)
	in.Started = time.Now().Add(-time.Hour)
	read := func(want Path) {
		t.Helper()
		readOne(t, s, "memory", in, time.Now())
		if got := s.Paths()[a]; got != want {
			t.Errorf("the path is %q, want %q", got, want)
		}
	}
	read(API)
	m.put2("/docker/"+a, counters{used: time.Second, usage: 5000})
	read(API)
	in.Started = time.Now()
	read(Cgroup)
	if err := os.RemoveAll(m.cgroup + "/docker"); err != nil {
		t.Fatal(err)
	}
	in.Started = time.Now()
	read(API)
}

func FuzzReadAnswer(f *testing.F) {
	f.Add(`{"read":"2026-01-01T00:00:00Z","cpu_stats":{"cpu_usage":{"total_usage":5},"online_cpus":2},"memory_stats":{"usage":9,"stats":{"inactive_file":3}}}`)
	f.Add(`{"response":500}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := readAnswer(strings.NewReader(text))
		if err == nil && a.running && (a.used <= 0 || a.stamp.IsZero()) {
			t.Errorf("%q reads as %+v", text, a)
		}
	})
}
