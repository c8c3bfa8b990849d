package sourcetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
)

// Harness is what the kit needs of a driver of queries.
type Harness struct {
	// Query is a question, and Name the name its series have; empty if they have none.
	Query sources.Query
	Name  string
	// Open opens the driver on a server that plays the scene. Clean-ups are t's, closing aside.
	Open func(t *testing.T, scene Scene) sources.Source
	// Secret is a word the server asks for. It must not turn up in any error.
	Secret string
	// Without are scenes that the technology cannot play.
	Without []Scene
}

// Scene is what the server does.
type Scene string

// The scenes.
const (
	// Answers: the series of Answer.
	Answers Scene = "answers"
	// Empty: no series.
	Empty Scene = "empty"
	// NotANumber: one series whose value is NaN.
	NotANumber Scene = "not a number"
	// Fails: an error of the server's own.
	Fails Scene = "fails"
	// Denies: wrong credentials.
	Denies Scene = "denies"
	// Refuses: nobody listens.
	Refuses Scene = "refuses"
	// Hangs: no answer, ever.
	Hangs Scene = "hangs"
	// Login: a page for people, as a proxy in between would show.
	Login Scene = "login page"
	// Truncated: Answer, but the connection ends before it does.
	Truncated Scene = "truncated"
	// TooLarge: more than the source takes.
	TooLarge Scene = "too large"
	// Noise: bytes without any meaning.
	Noise Scene = "noise"
)

// kinds are the kinds of error that the scenes must end in; the first is expected of External
// where the source itself answers.
var kinds = map[Scene][]sources.Kind{
	Empty:      {sources.NoData},
	NotANumber: {sources.Invalid},
	Fails:      {sources.Unavailable},
	Denies:     {sources.Denied},
	Refuses:    {sources.Unavailable},
	Login:      {sources.Garbled},
	Truncated:  {sources.Garbled, sources.Unavailable},
	TooLarge:   {sources.Garbled},
	Noise:      {sources.Garbled},
}

// Answer is what the server of scene Answers has: values by the label "instance".
func Answer() map[string]float64 { return map[string]float64{"a": 1, "b": 2.5} }

// prompt is how soon a source has to return once it is no longer waited for.
const prompt = 2 * time.Second

// Run checks a driver of queries against the promises of package sources.
func Run(t *testing.T, h Harness) {
	at := time.Now().Truncate(time.Millisecond)
	t.Run("an answer is given as it came", func(t *testing.T) { h.answers(t, at) })
	t.Run("many may ask at once", func(t *testing.T) { h.many(t, at) })
	for scene, want := range kinds {
		t.Run(string(scene)+" is an error", func(t *testing.T) { h.fails(t, scene, want, at) })
	}
	t.Run("who is not waited for returns", func(t *testing.T) { h.returns(t, at) })
	t.Run("who is not waited for does not begin", func(t *testing.T) { h.doesNotBegin(t, at) })
	t.Run("close can be called again", h.closes)
	t.Run("the query passes its own check", h.checks)
}

func (h *Harness) open(t *testing.T, scene Scene) (sources.Querier, sources.Source) {
	t.Helper()
	if slices.Contains(h.Without, scene) {
		t.Skipf("the technology cannot play the scene %q", scene)
	}
	source := h.Open(t, scene)
	querier, ok := source.(sources.Querier)
	if !ok {
		t.Fatalf("%T is no sources.Querier", source)
	}
	t.Cleanup(func() { _ = source.Close() })
	return querier, source
}

func (h *Harness) answers(t *testing.T, at time.Time) {
	querier, _ := h.open(t, Answers)
	result, err := querier.Query(t.Context(), h.Query, at)
	if err != nil {
		t.Fatal(err)
	}
	h.same(t, result, at)
	if len(result.Warnings()) > 0 {
		t.Errorf("warnings without a reason: %q", result.Warnings())
	}
}

func (h *Harness) same(t *testing.T, result *sources.Result, at time.Time) {
	t.Helper()
	got := map[string]float64{}
	for _, s := range result.Series() {
		if h.Name != s.Labels["__name__"] {
			t.Errorf("the name of series %v is not %q", s.Labels, h.Name)
		}
		if !s.Time.Equal(at) {
			t.Errorf("series %v has the time %v, want that of the evaluation, %v", s.Labels, s.Time, at)
		}
		got[s.Labels["instance"]] = s.Value
	}
	if diff := cmp.Diff(Answer(), got); diff != "" {
		t.Errorf("values by instance (-want +got):\n%s", diff)
	}
}

func (h *Harness) many(t *testing.T, at time.Time) {
	querier, _ := h.open(t, Answers)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			later := at.Add(time.Duration(i%4) * time.Second)
			result, err := querier.Query(t.Context(), h.Query, later)
			if err != nil {
				t.Error(err)
				return
			}
			h.same(t, result, later)
		})
	}
	all.Wait()
}

func (h *Harness) fails(t *testing.T, scene Scene, want []sources.Kind, at time.Time) {
	querier, _ := h.open(t, scene)
	var values []algorithm.Quantity
	result, err := querier.Query(t.Context(), h.Query, at)
	if err == nil {
		values, err = sources.External(result, nil, time.Minute, at)
	}
	if err == nil {
		t.Fatalf("no error, but the values %v", values)
	}
	if !slices.Contains(want, sources.KindOf(err)) {
		t.Errorf("error is %s, want %s: %v", sources.KindOf(err), want[0], err)
	}
	h.keepsSecret(t, err)
}

func (h *Harness) keepsSecret(t *testing.T, err error) {
	t.Helper()
	if h.Secret != "" && strings.Contains(err.Error(), h.Secret) {
		t.Errorf("the error tells the secret: %v", err)
	}
	if strings.ContainsAny(err.Error(), "\n") {
		t.Errorf("the error does not fit a line: %q", err)
	}
}

func (h *Harness) returns(t *testing.T, at time.Time) {
	querier, _ := h.open(t, Hangs)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := querier.Query(ctx, h.Query, at)
	<-ctx.Done()
	if err == nil {
		t.Fatal("no error from a server that hangs")
	}
	deadline, _ := ctx.Deadline()
	if late := time.Since(deadline); late > prompt {
		t.Errorf("returned %s after it was no longer waited for, want %s at most", late, prompt)
	}
	if sources.KindOf(err) != sources.Unavailable {
		t.Errorf("error is %s, want %s: %v", sources.KindOf(err), sources.Unavailable, err)
	}
	h.keepsSecret(t, err)
}

func (h *Harness) doesNotBegin(t *testing.T, at time.Time) {
	querier, _ := h.open(t, Hangs)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := querier.Query(ctx, h.Query, at)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want one that wraps context.Canceled", err)
	}
}

func (h *Harness) closes(t *testing.T) {
	_, source := h.open(t, Answers)
	for range 2 {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (h *Harness) checks(t *testing.T) {
	querier, _ := h.open(t, Answers)
	checker, ok := querier.(sources.QueryChecker)
	if !ok {
		t.Skip("the driver does not check queries")
	}
	if err := checker.CheckQuery(h.Query); err != nil {
		t.Error(err)
	}
	if err := checker.CheckQuery(sources.Query{}); err == nil {
		t.Error("an empty query passes")
	}
}

// Series returns the series of Answer, or of what else a scene has, for a server to write.
func (s Scene) Series(name string) []sources.Series {
	labels := func(instance string) map[string]string {
		return map[string]string{"__name__": name, "instance": instance}
	}
	switch s {
	case Empty:
		return nil
	case NotANumber:
		return []sources.Series{{Labels: labels("a"), Value: math.NaN()}}
	}
	var series []sources.Series
	for _, instance := range []string{"a", "b"} {
		series = append(series, sources.Series{Labels: labels(instance), Value: Answer()[instance]})
	}
	return series
}
