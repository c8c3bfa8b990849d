package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// workSpan is the CPU time that one request takes.
const workSpan = 5 * time.Millisecond

// worker is one instance of the demonstration.
type worker struct {
	// number counts from 1; port is where it listens, number 1 at the lowest.
	number, port int
	registry     *prometheus.Registry
	requests     prometheus.Counter
	offered      prometheus.Gauge
}

// Run serves until ctx ends. Instance 1 also offers the load to all of them.
func Run(ctx context.Context) error {
	w, err := newWorker(os.Getenv("HPAD_INSTANCE"), os.Getenv("HPAD_PORT"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address(w.port))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: w.routes(), ReadHeaderTimeout: 5 * time.Second}
	if w.number == 1 {
		go newLoad(w).run(ctx)
	}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func newWorker(instance, port string) (*worker, error) {
	const wanted = "the demo worker is started by hpad's process target with a port: see config.example.toml"
	number, err := strconv.Atoi(instance)
	if err != nil {
		return nil, fmt.Errorf("cannot read HPAD_INSTANCE %q: %s", instance, wanted)
	}
	at, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("cannot read HPAD_PORT %q: %s", port, wanted)
	}
	w := &worker{
		number:   number,
		port:     at,
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "demo_requests_total", Help: "Requests this instance has worked on.",
		}),
		offered: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "demo_offered_requests_per_second", Help: "Load offered to all instances together.",
		}),
	}
	w.registry.MustRegister(w.requests)
	if w.number == 1 {
		w.registry.MustRegister(w.offered)
	}
	return w, nil
}

func (w *worker) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(w.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /work", func(http.ResponseWriter, *http.Request) {
		work()
		w.requests.Inc()
	})
	return mux
}

// work uses the CPU for as long as a request takes.
func work() {
	for until := time.Now().Add(workSpan); time.Now().Before(until); {
	}
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
