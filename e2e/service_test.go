package e2e

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

// serviceVariable makes this test binary the service of the tests instead of the test.
const serviceVariable = "HPAD_E2E_SERVICE"

// serve is the service: it burns as much CPU and shows as long a queue as it is told.
//
//	POST /cpu?milli=160   burn 0.16 cores from now on
//	POST /queue?length=9  expose e2e_queue_length 9 from now on
//	GET  /metrics
func serve() {
	var milli, queue atomic.Int64
	set := func(to *atomic.Int64, parameter string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n, err := strconv.ParseInt(r.FormValue(parameter), 10, 64)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			to.Store(n)
		}
	}
	http.HandleFunc("POST /cpu", set(&milli, "milli"))
	http.HandleFunc("POST /queue", set(&queue, "length"))
	http.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE e2e_queue_length gauge\ne2e_queue_length %d\n", queue.Load())
	})
	go burn(&milli)
	go func() {
		fmt.Fprintln(os.Stderr, http.ListenAndServe(":80", nil))
		os.Exit(1)
	}()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
}

// burn makes the process use the given thousandths of a core. It goes by the CPU time that the
// process was given, so that it catches up with what others on a busy machine took from it.
func burn(milli *atomic.Int64) {
	last, used := time.Now(), cpuTime()
	for now := range time.Tick(20 * time.Millisecond) {
		until := used + now.Sub(last)*time.Duration(milli.Load())/1000
		for cpuTime() < until {
		}
		last, used = now, cpuTime()
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
