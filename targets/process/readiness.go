package process

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// pollEvery is the time between two questions for readiness; none waits longer for its answer.
	pollEvery = time.Second
	// pollReadyEvery is that time after a good answer: most programs log every question.
	pollReadyEvery = 10 * time.Second
	// failuresUntilUnready is the failure threshold of a Kubernetes readiness probe.
	failuresUntilUnready = 3
)

// watch asks an instance for its readiness until ctx ends.
func (t *target) watch(ctx context.Context, i *instance) {
	if t.set.ReadyHTTP == "" {
		return
	}
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(t.set.port(i.number))) + t.set.ReadyHTTP
	failures := 0
	for {
		pause := pollEvery
		if t.answers(ctx, url) {
			failures, pause = 0, pollReadyEvery
			t.edit(func() { i.setReady(true) })
		} else if failures++; failures == failuresUntilUnready {
			t.edit(func() { i.setReady(false) })
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// answers tells whether a GET has a status that a Kubernetes probe takes for success.
func (t *target) answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, pollEvery)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := t.client.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 4<<10)
	return answer.StatusCode >= 200 && answer.StatusCode < 400
}

// newClient makes a client that stays on this machine: without proxy, redirects or kept
// connections.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
