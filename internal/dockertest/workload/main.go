// Command workload is what tests run in containers. Its environment tells it how to behave:
//
//	DELAY        wait that long before anything else
//	EXIT         end with this code after DELAY
//	LISTEN       serve HTTP on this address: every path answers 200 "ok"; /load?value=N sets the
//	             number that /metrics reports as the gauge workload_load
//	SPIN         keep this many cores busy (a fraction)
//	IGNORE_TERM  if set, SIGTERM does not end it
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
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE workload_load gauge\nworkload_load %s\n", load.Load())
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, nil))
	os.Exit(1)
}
