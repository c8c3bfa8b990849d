package demo

import (
	"context"
	"io"
	"net/http"
	"time"
)

const (
	// maxWorkers is how many ports from the first on are looked at for workers.
	maxWorkers = 10
	// maxInFlight bounds the requests that wait for an answer; more are not offered.
	maxInFlight = 32
	// beat is how often requests are sent: each time as many as are due.
	beat = 20 * time.Millisecond
)

// load offers requests to all workers in turn.
type load struct {
	worker   *worker
	client   *http.Client
	inFlight chan struct{}
	alive    []int // the ports of the workers found last
	next     int
}

func newLoad(w *worker) *load {
	return &load{
		worker:   w,
		client:   &http.Client{Timeout: time.Second},
		inFlight: make(chan struct{}, maxInFlight),
	}
}

func (l *load) run(ctx context.Context) {
	send, look := time.NewTicker(beat), time.NewTicker(time.Second)
	defer send.Stop()
	defer look.Stop()
	start, due := time.Now(), 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			l.alive = l.find(ctx)
		case now := <-send.C:
			rate := offered(now.Sub(start))
			l.worker.offered.Set(rate)
			for due += rate * beat.Seconds(); due >= 1; due-- {
				l.send(ctx)
			}
		}
	}
}

// find returns the ports at which a worker answers.
func (l *load) find(ctx context.Context) []int {
	var alive []int
	for port := l.worker.port; port < l.worker.port+maxWorkers; port++ {
		if l.get(ctx, port, "/healthz") == nil {
			alive = append(alive, port)
		}
	}
	return alive
}

// send offers one request to the next worker, unless too many still wait.
func (l *load) send(ctx context.Context) {
	if len(l.alive) == 0 {
		return
	}
	l.next = (l.next + 1) % len(l.alive)
	port := l.alive[l.next]
	select {
	case l.inFlight <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-l.inFlight }()
		_ = l.get(ctx, port, "/work")
	}()
}

func (l *load) get(ctx context.Context, port int, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address(port)+path, nil)
	if err != nil {
		return err
	}
	answer, err := l.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
