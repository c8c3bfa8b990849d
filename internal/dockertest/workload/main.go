// Command workload is what tests run in containers. Its environment tells it how to behave:
//
//	DELAY        wait that long before anything else
//	EXIT         end with this code after DELAY
//	LISTEN       serve HTTP on this address: every path answers 200 "ok"; /load?value=N sets the
//	             number that /metrics reports as the gauge workload_load
//	SPIN         keep this many cores busy (a fraction)
//	IGNORE_TERM  if set, SIGTERM does not end it
//
// With the argument "check" it is the container's health check: it passes while /health of LISTEN
// answers 200, which /health?status=N changes.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		check(os.Getenv("LISTEN"))
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	if delay, err := time.ParseDuration(os.Getenv("DELAY")); err == nil {
		time.Sleep(delay)
	}
	if code, err := strconv.Atoi(os.Getenv("EXIT")); err == nil {
		os.Exit(code)
	}
	if cores, err := strconv.ParseFloat(os.Getenv("SPIN"), 64); err == nil {
		go spin(cores)
	}
	if address := os.Getenv("LISTEN"); address != "" {
		go serve(address)
	}
	for range end {
		if os.Getenv("IGNORE_TERM") == "" {
			return
		}
	}
}

func check(address string) {
	answer, err := http.Get("http://127.0.0.1" + address + "/health")
	if err != nil || answer.StatusCode != http.StatusOK {
		os.Exit(1)
	}
	os.Exit(0)
}

// spin is busy for the given share of every tenth of a second.
func spin(cores float64) {
	const period = 100 * time.Millisecond
	for start := range time.Tick(period) {
		for time.Since(start) < time.Duration(cores*float64(period)) {
		}
	}
}

func serve(address string) {
	var load atomic.Value
	load.Store("0")
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("/load", func(_ http.ResponseWriter, r *http.Request) { load.Store(r.FormValue("value")) })
	var health atomic.Int64
	health.Store(http.StatusOK)
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		if status, err := strconv.ParseInt(r.FormValue("status"), 10, 64); err == nil {
			health.Store(status)
			return
		}
		w.WriteHeader(int(health.Load()))
	})
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE workload_load gauge\nworkload_load %s\n", load.Load())
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, nil))
	os.Exit(1)
}
