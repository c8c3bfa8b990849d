package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/daemon/api"
)

// noon is when the workloads of the tests were looked at.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func pointer[T any](v T) *T { return &v }

func web() api.Workload {
	return api.Workload{
		Name: "web", Target: "docker-swarm:unix:///run/docker.sock/shop_web", Via: "swarm",
		MinReplicas: 2, MaxReplicas: 20, SpecReplicas: 4, StatusReplicas: 3, DesiredReplicas: 4,
		Metrics: []api.Metric{
			{Type: "resource", Name: "cpu", TargetKind: "average_utilization", TargetValue: 60, CurrentValue: pointer(45.0), CurrentAverage: pointer(0.45)},
			{Type: "container_resource", Name: "memory", Container: "app", TargetKind: "average_value", TargetValue: 512 << 20, CurrentValue: pointer(1.5 * (1 << 30))},
			{Type: "external", Name: "queue", Source: "prometheus", TargetKind: "value", TargetValue: 0.25, Error: "the answer is empty", Kind: "no_data"},
		},
		Conditions: []api.Condition{
			{Type: "AbleToScale", Status: "True", Reason: "ReadyForNewScale"},
			{Type: "ScalingActive", Status: "True", Reason: "ValidMetricFound"},
			{Type: "ScalingLimited", Status: "True", Reason: "TooFewReplicas"},
		},
		Since: noon.Add(-26 * time.Hour), LastSuccess: noon.Add(-5 * time.Second), LastScale: noon.Add(-90 * time.Second),
	}
}

func shown(t *testing.T, wide bool, workloads ...api.Workload) string {
	t.Helper()
	var out strings.Builder
	if err := tablePrinter(&out, wide)(workloads, noon); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestATableIsOneLinePerWorkload(t *testing.T) {
	off := web()
	off.Name, off.Disabled, off.DryRun = "off", true, true
	off.SpecReplicas, off.StatusReplicas, off.Metrics = 0, 0, off.Metrics[:1]
	fresh := api.Workload{Name: "fresh", Target: "process:1c8e28587c2d", Via: "process", MinReplicas: 1, MaxReplicas: 3, Since: noon}
	want := `NAME    TARGET                 METRICS                                             MIN   MAX   REPLICAS                     AGE
web     swarm/shop_web         cpu: 45%/60%, memory{app}: 1.5Gi/512Mi (avg), + 1 more   2     20    3                            1d2h
off     swarm/shop_web         cpu: 45%/60%                                        2     20    off (0 replicas) (dry run)   1d2h
fresh   process/1c8e28587c2d   <unknown>                                           1     3     <unknown>                    0s
`
	want = aligned(want)
	if diff := cmp.Diff(want, aligned(shown(t, false, web(), off, fresh))); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// aligned makes every gap between columns equally wide.
func aligned(text string) string {
	for strings.Contains(text, "    ") {
		text = strings.ReplaceAll(text, "    ", "   ")
	}
	return text
}

func TestAWideTableShowsEverything(t *testing.T) {
	lines := strings.Split(shown(t, true, web()), "\n")
	for _, want := range []string{
		"queue: <unknown>/0.25", "1m30s ago", "TooFewReplicas",
	} {
		if !strings.Contains(lines[1], want) {
			t.Errorf("%q is missing in %q", want, lines[1])
		}
	}
}

func TestColumnsStandBelowTheirTitles(t *testing.T) {
	lines := strings.Split(shown(t, false, web()), "\n")
	for title, cell := range map[string]string{"TARGET": "swarm/shop_web", "METRICS": "cpu:", "AGE": "1d2h"} {
		if a, b := strings.Index(lines[0], title), strings.Index(lines[1], cell); a != b {
			t.Errorf("%q begins at %d, %q at %d", title, a, cell, b)
		}
	}
}

func TestAgesAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:                 "0s",
		0:                            "0s",
		59 * time.Second:             "59s",
		60 * time.Second:             "1m",
		95 * time.Second:             "1m35s",
		11*time.Minute + time.Second: "11m",
		2*time.Hour + 3*time.Minute:  "2h3m",
		26 * time.Hour:               "1d2h",
		50 * time.Hour:               "2d2h",
		30 * 24 * time.Hour:          "30d",
	} {
		if got := age(noon.Add(-d), noon); got != want {
			t.Errorf("the age of %v is %s, want %s", d, got, want)
		}
	}
}

func TestWatchShowsOnlyWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		turn := 0
		fetch := func(context.Context) ([]api.Workload, error) {
			turn++
			grown, still := web(), web()
			still.Name = "still"
			if turn >= 3 {
				grown.StatusReplicas = 4
			}
			if turn == 5 {
				cancel()
			}
			return []api.Workload{grown, still}, nil
		}
		var out bytes.Buffer
		if err := watchWorkloads(ctx, fetch, tablePrinter(&out, false), io.Discard); err != nil {
			t.Fatal(err)
		}
		var names []string
		for line := range strings.Lines(out.String()) {
			names = append(names, strings.Fields(line)[0])
		}
		if diff := cmp.Diff([]string{"NAME", "web", "still", "web"}, names); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}

func TestWatchOutlivesADaemonThatRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		turn := 0
		fetch := func(context.Context) ([]api.Workload, error) {
			switch turn++; turn {
			case 2, 3:
				return nil, errors.New("cannot reach hpad")
			case 5:
				cancel()
			}
			w := web()
			w.MaxReplicas = int32(min(turn, 4))
			return []api.Workload{w}, nil
		}
		var out, errs bytes.Buffer
		if err := watchWorkloads(ctx, fetch, tablePrinter(&out, false), &errs); err != nil {
			t.Errorf("watching ended: %v", err)
		}
		if n := strings.Count(out.String(), "\nweb"); n != 2 || errs.String() != "hpad: cannot reach hpad\n" {
			t.Errorf("%d lines and the errors %q", n, errs.String())
		}
	})
}

func TestAnAnswerThatIsNoneIsAnError(t *testing.T) {
	for body, want := range map[string]string{
		"<html>":                "cannot understand the answer of ",
		`{"workloads": "many"}`: "cannot understand the answer of ",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(body))
		}))
		c, err := clientFor(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.workloads(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error is %v, want %s…", body, err, want)
		}
		server.Close()
	}
}

func TestPasswordsOfAnAddressAreNotShown(t *testing.T) {
	c, err := clientFor("http://u:hunter2@127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.workloads(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error is %v", err)
	}
	if _, err = clientFor("http://u:hunter2@x:y z"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error is %v", err)
	}
}

func TestAProblemIsToldInTheWordsOfTheDaemon(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(api.Problem{Title: "Not Found", Status: 404, Detail: `there is no workload "x"`})
	}))
	defer server.Close()
	c, err := clientFor(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.workload(t.Context(), "x"); err == nil || err.Error() != `there is no workload "x"` {
		t.Errorf("error is %v", err)
	}
}
