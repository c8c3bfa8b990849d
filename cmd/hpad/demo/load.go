package demo

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
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
	alive    atomic.Pointer[[]int] // the ports of the workers found last
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
	go l.look(ctx)
	send := time.NewTicker(beat)
	defer send.Stop()
	start, due := time.Now(), 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-send.C:
			rate := offered(now.Sub(start))
			l.worker.offered.Set(rate)
			for due += rate * beat.Seconds(); due >= 1; due-- {
				l.send(ctx)
			}
		}
	}
}

// look finds the workers anew each second.
func (l *load) look(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		alive := l.find(ctx)
		l.alive.Store(&alive)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// find returns the ports at which a worker answers. All are asked at once: one that hangs does not
// hide the others.
func (l *load) find(ctx context.Context) []int {
	var answers [maxWorkers]bool
	var asked sync.WaitGroup
	for i := range answers {
		asked.Go(func() { answers[i] = l.get(ctx, l.worker.port+i, "/healthz") == nil })
	}
	asked.Wait()
	var alive []int
	for i, ok := range answers {
		if ok {
			alive = append(alive, l.worker.port+i)
		}
	}
	return alive
}

// send offers one request to the next worker, unless too many still wait.
func (l *load) send(ctx context.Context) {
	alive := l.alive.Load()
	if alive == nil || len(*alive) == 0 {
		return
	}
	l.next = (l.next + 1) % len(*alive)
	port := (*alive)[l.next]
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
