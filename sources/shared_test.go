package sources_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/sourcetest"
)

const second = time.Second

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func ask(s *sources.Shared, text string, at time.Time) (float64, error) {
	result, err := s.Query(context.Background(), sources.Query{Text: text}, at)
	if err != nil {
		return 0, err
	}
	return result.Series()[0].Value, nil
}

func TestEqualQueriesOfOneTimeAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &sourcetest.Fake{}
		fake.Value("x", 7)
		fake.Delay(second)
		shared := sources.NewShared(fake, 5*second, 4)
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if v, err := ask(shared, "x", noon); v != 7 || err != nil {
					t.Errorf("answer is %v, %v, want 7", v, err)
				}
			})
		}
		all.Wait()
		if v, err := ask(shared, "x", noon); v != 7 || err != nil {
			t.Errorf("later answer is %v, %v, want 7", v, err)
		}
		if n := len(fake.Calls()); n != 1 {
			t.Errorf("the source was asked %d times, want once", n)
		}
		if _, err := ask(shared, "x", noon.Add(second)); err != nil {
			t.Error(err)
		}
		if n := len(fake.Calls()); n != 2 {
			t.Errorf("the source was asked %d times for two times, want twice", n)
		}
	})
}

func TestErrorsAreAnswersToo(t *testing.T) {
	fake := &sourcetest.Fake{}
	fake.Fail("x", sources.Errorf(sources.Denied, "no"))
	shared := sources.NewShared(fake, second, 1)
	for range 2 {
		if _, err := ask(shared, "x", noon); sources.KindOf(err) != sources.Denied {
			t.Errorf("error is %v, want a denial", err)
		}
	}
	if n := len(fake.Calls()); n != 1 {
		t.Errorf("the source was asked %d times, want once", n)
	}
}

func TestWhoGivesUpSpoilsNothingForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &sourcetest.Fake{}
		fake.Value("x", 7)
		fake.Delay(2 * second)
		shared := sources.NewShared(fake, 5*second, 4)
		impatient, cancel := context.WithTimeout(t.Context(), second)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			_, err := shared.Query(impatient, sources.Query{Text: "x"}, noon)
			if !errors.Is(err, context.DeadlineExceeded) || sources.KindOf(err) != sources.Unavailable {
				t.Errorf("error of who gave up is %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if v, err := ask(shared, "x", noon); v != 7 || err != nil {
				t.Errorf("answer of who waited is %v, %v, want 7", v, err)
			}
		})
		all.Wait()
		if n := len(fake.Calls()); n != 1 {
			t.Errorf("the source was asked %d times, want once", n)
		}
	})
}

func TestQuestionNobodyWaitsForIsCancelledAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &sourcetest.Fake{}
		fake.Value("x", 7)
		fake.Delay(time.Hour)
		shared := sources.NewShared(fake, 2*time.Hour, 4)
		ctx, cancel := context.WithTimeout(t.Context(), second)
		defer cancel()
		if _, err := shared.Query(ctx, sources.Query{Text: "x"}, noon); err == nil {
			t.Error("no error")
		}
		synctest.Wait()
		fake.Delay(0)
		if v, err := ask(shared, "x", noon); v != 7 || err != nil {
			t.Errorf("second answer is %v, %v, want 7 and not the cancellation", v, err)
		}
	})
}

func TestAnswerHasADeadlineOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &sourcetest.Fake{}
		fake.Delay(time.Hour)
		shared := sources.NewShared(fake, 5*second, 4)
		began := time.Now()
		_, err := ask(shared, "x", noon)
		if sources.KindOf(err) != sources.Unavailable || err == nil || !strings.Contains(err.Error(), "within 5s") {
			t.Errorf("error is %v, want no answer within 5s", err)
		}
		if took := time.Since(began); took != 5*second {
			t.Errorf("took %s, want 5s", took)
		}
	})
}

func TestSourceIsAskedSoManyQuestionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &sourcetest.Fake{}
		fake.Delay(second)
		shared := sources.NewShared(fake, 5*second, 3)
		began := time.Now()
		var all sync.WaitGroup
		for i := range 9 {
			text := fmt.Sprint("x", i)
			fake.Value(text, float64(i))
			all.Go(func() {
				if v, err := ask(shared, text, noon); v != float64(i) || err != nil {
					t.Errorf("answer is %v, %v, want %d", v, err, i)
				}
			})
		}
		all.Wait()
		if n := fake.MostInFlight(); n != 3 {
			t.Errorf("%d were under way at once, want 3", n)
		}
		if took := time.Since(began); took != 3*second {
			t.Errorf("took %s, want 3s", took)
		}
	})
}

func TestQuestionGivenUpBeforeItsTurnIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &sourcetest.Fake{}
		fake.Value("slow", 1)
		fake.Value("later", 2)
		fake.Delay(2 * second)
		shared := sources.NewShared(fake, 5*second, 1)
		var all sync.WaitGroup
		all.Go(func() { _, _ = ask(shared, "slow", noon) })
		synctest.Wait()
		impatient, cancel := context.WithTimeout(t.Context(), second)
		defer cancel()
		if _, err := shared.Query(impatient, sources.Query{Text: "given up"}, noon); err == nil {
			t.Error("no error of who gave up")
		}
		if v, err := ask(shared, "later", noon); v != 2 || err != nil {
			t.Errorf("answer of who came later is %v, %v, want 2", v, err)
		}
		all.Wait()
		for _, c := range fake.Calls() {
			if c.Query.Text == "given up" {
				t.Error("the source was asked what nobody waited for")
			}
		}
	})
}

func TestOlderTimeIsAnsweredWithoutDisturbingTheNewer(t *testing.T) {
	fake := &sourcetest.Fake{}
	fake.Value("x", 7)
	shared := sources.NewShared(fake, second, 3)
	for _, at := range []time.Time{noon, noon.Add(-second), noon} {
		if _, err := ask(shared, "x", at); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(fake.Calls()); n != 2 {
		t.Errorf("the source was asked %d times, want twice", n)
	}
}

func TestAnswersAreForgottenAfterTwoEvaluations(t *testing.T) {
	fake := &sourcetest.Fake{}
	shared := sources.NewShared(fake, second, 3)
	for i := range 50 {
		text := fmt.Sprint("x", i)
		fake.Value(text, 1)
		if _, err := ask(shared, text, noon.Add(time.Duration(i)*second)); err != nil {
			t.Fatal(err)
		}
	}
	if n := sources.Kept(shared); n != 2 {
		t.Errorf("%d answers are kept, want 2", n)
	}
	shared.Drop()
	if n := sources.Kept(shared); n != 0 {
		t.Errorf("%d answers are kept after Drop, want none", n)
	}
}

type panicking struct{}

func (panicking) Query(_ context.Context, q sources.Query, _ time.Time) (*sources.Result, error) {
	panic("lost my mind over " + q.Text)
}

func TestEveryPanicIsThatOfWhoAsked(t *testing.T) {
	shared := sources.NewShared(panicking{}, second, 1)
	for _, text := range []string{"x", "y"} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "lost my mind over "+text) {
					t.Errorf("panic is %s, want that of the source over %s", p, text)
				}
			}()
			_, _ = ask(shared, text, noon)
			t.Errorf("no panic over %s", text)
		}()
	}
}
