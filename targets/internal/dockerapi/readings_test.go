package dockerapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBurstOfCallsCostsTwoReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var readings [][]string
		i := NewReadings(func(_ context.Context, names []string) (map[string]string, error) {
			slices.Sort(names)
			readings = append(readings, names)
			time.Sleep(time.Second)
			return map[string]string{"a": "n"}, nil
		})
		defer i.Close()
		var wg sync.WaitGroup
		for _, name := range []string{"a", "b", "a", "c"} {
			wg.Go(func() {
				_, _, ok, err := i.Get(t.Context(), name)
				if err != nil || ok != (name == "a") {
					t.Errorf("%q: found %v, error %v", name, ok, err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if len(readings) != 2 || len(readings[0]) != 1 || !slices.Equal(readings[1], []string{"a", "b", "c"}) {
			t.Errorf("the readings are %v", readings)
		}
	})
}

func TestAnswerIsNeverOlderThanTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		i := NewReadings(func(context.Context, []string) (map[string]string, error) {
			begun := time.Since(start).String()
			time.Sleep(time.Second)
			return map[string]string{"a": begun}, nil
		})
		defer i.Close()
		go func() { _, _, _, _ = i.Get(t.Context(), "a") }()
		time.Sleep(time.Second / 2)
		if v, _, _, _ := i.Get(t.Context(), "a"); v != "1s" {
			t.Errorf("a call after 500ms got the reading that began after %s", v)
		}
	})
}

func TestCallThatGivesUpDisturbsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := NewReadings(func(ctx context.Context, _ []string) (map[string]string, error) {
			select {
			case <-time.After(time.Hour):
				return map[string]string{"a": ""}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		patient := make(chan error)
		go func() {
			_, _, _, err := i.Get(t.Context(), "a")
			patient <- err
		}()
		if _, _, _, err := i.Get(short, "a"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("the short call says %v after %v", err, time.Since(start))
		}
		if err := <-patient; err != nil {
			t.Errorf("the patient call says %v", err)
		}
		i.Close()
	})
}

func TestCloseEndsAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := NewReadings(func(ctx context.Context, _ []string) (map[string]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		got := make(chan error)
		go func() {
			_, _, _, err := i.Get(t.Context(), "a")
			got <- err
		}()
		synctest.Wait()
		go i.Close()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("the call says %v", err)
		}
	})
}
