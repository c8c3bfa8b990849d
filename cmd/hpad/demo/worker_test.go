package demo

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWorkerCountsWhatItWorkedOn(t *testing.T) {
	w, err := newWorker("1", "9873")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.routes())
	defer server.Close()
	for _, path := range []string{"/work", "/work", "/healthz"} {
		answer, err := server.Client().Get(server.URL + path)
		if err != nil || answer.StatusCode != 200 {
			t.Fatalf("GET %s: %v, %v", path, answer, err)
		}
		answer.Body.Close()
	}
	answer, err := server.Client().Get(server.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ndemo_requests_total 2\n", "\ndemo_offered_requests_per_second 0\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the metrics lack %q:\n%s", want, page)
		}
	}
}

func TestOnlyTheFirstWorkerTellsTheLoad(t *testing.T) {
	w, err := newWorker("2", "9874")
	if err != nil {
		t.Fatal(err)
	}
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "demo_offered_requests_per_second" {
			t.Error("instance 2 tells the load, too")
		}
	}
}

func TestWorkerStartedByHandSaysWhatItNeeds(t *testing.T) {
	for _, env := range [][2]string{{"", "9873"}, {"1", ""}, {"one", "9873"}} {
		if _, err := newWorker(env[0], env[1]); err == nil || !strings.Contains(err.Error(), "config.example.toml") {
			t.Errorf("instance %q, port %q: error is %v", env[0], env[1], err)
		}
	}
}
