package loadtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakePrometheus answers instant queries: "shared" with one series per workload, everything else
// with one series. It counts what it is asked, and scrapes hpad.
type fakePrometheus struct {
	workloads int

	mu          sync.Mutex
	value       string
	began       time.Time
	perSecond   map[int]int
	connections int
}

// stats are what a fakePrometheus counted since it was reset.
type stats struct {
	Queries, BusiestSecond, Connections int
	Seconds                             float64
}

// scrape is what reading hpad's metrics took.
type scrape struct {
	Bytes   int
	Seconds float64
}

// servePrometheus is the main function of the process; it ends with its standard input.
func servePrometheus(workloads int) {
	p := &fakePrometheus{workloads: workloads, value: "20"}
	p.reset()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("http://" + listener.Addr().String())
	server := &http.Server{Handler: p.routes(), ReadHeaderTimeout: time.Minute, ConnState: p.connState}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(server.Serve(listener))
}

func (p *fakePrometheus) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/query", p.query)
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) { p.reset() })
	mux.HandleFunc("/value", func(_ http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.value = r.FormValue("v")
	})
	mux.HandleFunc("/stats", func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, p.stats()) })
	mux.HandleFunc("/scrape", func(w http.ResponseWriter, r *http.Request) { answerJSON(w, readMetrics(r.FormValue("url"))) })
	return mux
}

func (p *fakePrometheus) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began, p.perSecond = time.Now(), map[int]int{}
}

func (p *fakePrometheus) connState(_ net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state == http.StateNew {
		p.connections++
	}
}

func (p *fakePrometheus) stats() stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := stats{Connections: p.connections, Seconds: time.Since(p.began).Seconds()}
	for _, n := range p.perSecond {
		s.Queries += n
		s.BusiestSecond = max(s.BusiestSecond, n)
	}
	return s
}

func (p *fakePrometheus) query(w http.ResponseWriter, r *http.Request) {
	text, at := r.FormValue("query"), r.FormValue("time")
	p.mu.Lock()
	p.perSecond[int(time.Since(p.began).Seconds())]++
	value := p.value
	p.mu.Unlock()
	names := []string{text}
	if strings.HasPrefix(text, "shared") {
		names = make([]string, p.workloads)
		for i := range names {
			names[i] = workloadName(i)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriter(w)
	fmt.Fprint(out, `{"status":"success","data":{"resultType":"vector","result":[`)
	for i, name := range names {
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, `{"metric":{"queue":%q},"value":[%s,%q]}`, name, at, value)
	}
	fmt.Fprint(out, "]}}")
	out.Flush()
}

func readMetrics(url string) scrape {
	began := time.Now()
	answer, err := http.Get(url)
	if err != nil {
		return scrape{}
	}
	defer answer.Body.Close()
	n, _ := io.Copy(io.Discard, answer.Body)
	return scrape{Bytes: int(n), Seconds: time.Since(began).Seconds()}
}

func answerJSON(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func workloadName(i int) string { return "workload" + strconv.Itoa(i) }

// startPrometheus runs servePrometheus in a process of its own, until the test ends.
func startPrometheus(t *testing.T, workloads int) (url string) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), executable)
	process.Env = append(os.Environ(), prometheusEnv+"="+strconv.Itoa(workloads))
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = process.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://") {
		t.Fatalf("the fake Prometheus said %q: %v", line, err)
	}
	return strings.TrimSpace(line)
}

// ask reads JSON from the fake Prometheus.
func ask(t *testing.T, url string, v any) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if v == nil {
		return
	}
	if err := json.NewDecoder(answer.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}
