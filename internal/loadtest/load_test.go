package loadtest

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hpad/hpad/daemon"
	"github.com/hpad/hpad/daemon/config"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/prometheus"
	"github.com/hpad/hpad/targets"
)

const (
	// prometheusEnv makes the test binary a fake Prometheus for so many workloads.
	prometheusEnv = "HPAD_LOADTEST_PROMETHEUS"
	// caseEnv makes it measure one case, for memory is of a process.
	caseEnv = "HPAD_LOADTEST_CASE"

	period = 15 * time.Second
)

var load = flag.Duration("load", 0, "how long to measure each case; 0 only tries the harness")

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(prometheusEnv)); err == nil {
		servePrometheus(n)
		return
	}
	os.Exit(m.Run())
}

// loadCase is one measurement: so many workloads, which all share a query or have one each.
type loadCase struct {
	workloads int
	shared    bool
}

func (c loadCase) String() string {
	if c.shared {
		return fmt.Sprintf("%d-shared", c.workloads)
	}
	return fmt.Sprintf("%d-own", c.workloads)
}

func TestLoad(t *testing.T) {
	if *load == 0 {
		measure(t, loadCase{20, true}, time.Second)
		return
	}
	for _, c := range []loadCase{{1000, true}, {1000, false}, {10000, true}, {10000, false}} {
		t.Run(c.String(), func(t *testing.T) {
			if os.Getenv(caseEnv) == c.String() {
				measure(t, c, *load).check(t, c)
				return
			}
			if os.Getenv(caseEnv) != "" {
				t.Skip("measured by another process")
			}
			inProcess(t, c)
		})
	}
}

// inProcess measures a case in a process of its own.
func inProcess(t *testing.T, c loadCase) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(t.Context(), executable,
		"-test.run", "^TestLoad$/^"+c.String()+"$", "-test.v", "-load", load.String())
	process.Env = append(os.Environ(), caseEnv+"="+c.String())
	output, err := process.CombinedOutput()
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "PASS") {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// figures are what one case cost.
type figures struct {
	cpuPerMinute         float64 // seconds
	rss, rssPeak         float64 // MiB
	queriesPerPeriod     float64
	busiestShare         float64
	connections          int
	first                time.Duration
	logPerMinute         float64 // bytes
	scrape               scrape
	changes              int
	changeP50, changeP99 time.Duration
	goroutines           int
}

// check compares with the bars: fixed for a thousand workloads, growing with their number above.
func (f figures) check(t *testing.T, c loadCase) {
	scale := max(1, float64(c.workloads)/1000)
	for _, bar := range []struct {
		what       string
		is, atMost float64
	}{
		{"CPU seconds per minute", f.cpuPerMinute, 1 * scale},
		{"RSS in MiB", f.rss, 60 * scale},
		{"connections", float64(f.connections), 20},
		{"first evaluation in seconds", f.first.Seconds(), 1 * scale},
		{"log bytes per minute", f.logPerMinute, 5 << 10},
		{"seconds from sample to change (p99)", f.changeP99.Seconds(), 0.05 * scale},
	} {
		if bar.is > bar.atMost {
			t.Errorf("%s: %.3f, want at most %.3f", bar.what, bar.is, bar.atMost)
		}
	}
	if c.shared && f.queriesPerPeriod > 1.3 {
		t.Errorf("%.2f queries per period, want 1", f.queriesPerPeriod)
	}
	if !c.shared && f.busiestShare > 0.2 {
		t.Errorf("the busiest second has %.0f %% of a period's queries, want at most 20 %%", f.busiestShare*100)
	}
}

func measure(t *testing.T, c loadCase, length time.Duration) (f figures) {
	url := startPrometheus(t, c.workloads)
	p := &probe{read: map[string]time.Time{}}
	var logged atomic.Int64
	address := freeAddress(t)
	path := writeConfig(t, c, url, address)
	drivers := daemon.Drivers{Sources: []sources.Driver{p.probed(prometheus.Driver())}, Targets: []targets.Driver{p.driver()}}
	options := daemon.Options{
		Load: func() (*config.Config, config.Problems) {
			return config.Load(path, config.Known{Sources: []string{"prometheus"}, Targets: []string{"memory"}})
		},
		Drivers: drivers,
		Log:     slog.New(slog.NewTextHandler(counter{&logged}, nil)),
	}
	d, err := daemon.New(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- d.Run(ctx) }()
	settle(length)
	first, seen := p.started()
	f.first = first.Sub(began)
	if seen != c.workloads {
		t.Errorf("%d of %d workloads were evaluated", seen, c.workloads)
	}
	quiet(t, &f, url, address, &logged, length)
	change(t, &f, p, url, length)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	f.report(t, c)
	return f
}

// settle waits until every workload has found its phase.
func settle(length time.Duration) { time.Sleep(min(length+time.Second, 2*period)) }

// quiet measures while nothing changes.
func quiet(t *testing.T, f *figures, url, address string, logged *atomic.Int64, length time.Duration) {
	ask(t, url+"/reset", nil)
	loggedBefore, cpuBefore, began := logged.Load(), cpu(), time.Now()
	for left := length; left > 0; left -= period {
		time.Sleep(min(left, period))
		ask(t, url+"/scrape?url=http://"+address+"/metrics", &f.scrape)
	}
	minutes := time.Since(began).Minutes()
	f.cpuPerMinute = (cpu() - cpuBefore).Seconds() / minutes
	f.logPerMinute = float64(logged.Load()-loggedBefore) / minutes
	f.rss, f.rssPeak = memoryOf("VmRSS:"), memoryOf("VmHWM:")
	f.goroutines = runtime.NumGoroutine()
	var s stats
	ask(t, url+"/stats", &s)
	f.queriesPerPeriod = float64(s.Queries) / (s.Seconds / period.Seconds())
	f.busiestShare = float64(s.BusiestSecond) / max(1, f.queriesPerPeriod)
	f.connections = s.Connections
}

// change measures how long a change takes from the sample to the target, for all workloads.
func change(t *testing.T, f *figures, p *probe, url string, length time.Duration) {
	ask(t, url+"/value?v=80", nil)
	time.Sleep(min(length+time.Second, period+2*time.Second))
	waits := p.sortedWaits()
	f.changes = len(waits)
	if f.changes > 0 {
		f.changeP50, f.changeP99 = waits[f.changes/2], waits[f.changes*99/100]
	}
}

func (f figures) report(t *testing.T, c loadCase) {
	t.Logf("%s: CPU %.2f s/min, RSS %.1f MiB (peak %.1f), %d goroutines, %.1f queries/period, busiest second %.1f %%, %d connections",
		c, f.cpuPerMinute, f.rss, f.rssPeak, f.goroutines, f.queriesPerPeriod, f.busiestShare*100, f.connections)
	t.Logf("%s: first evaluation of the last workload after %s, log %.0f B/min, /metrics %.2f MB in %.0f ms, sample to change p50 %s p99 %s of %d",
		c, f.first.Round(time.Millisecond), f.logPerMinute, float64(f.scrape.Bytes)/1e6, f.scrape.Seconds*1000,
		f.changeP50.Round(time.Microsecond), f.changeP99.Round(time.Microsecond), f.changes)
}

func writeConfig(t *testing.T, c loadCase, url, address string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[daemon]\nlisten = %q\nsocket = \"\"\nstate_dir = \"state\"\nsync_period = %q\n", address, period)
	fmt.Fprintf(&b, "[sources.prometheus]\ndriver = \"prometheus\"\nurl = %q\n[targets.memory]\ndriver = \"memory\"\n", url)
	for i := range c.workloads {
		name, query, pick := workloadName(i), "own_"+workloadName(i), ""
		if c.shared {
			query, pick = "shared", fmt.Sprintf("select = { queue = %q }\n", name)
		}
		fmt.Fprintf(&b, "[[workload]]\nname = %q\ntarget = { via = \"memory\", name = %q, query = %q }\nmax_replicas = 100\n", name, name, query)
		fmt.Fprintf(&b, "[[workload.metric]]\ntype = \"external\"\nname = \"queue\"\nsource = \"prometheus\"\nquery = %q\n%saverage_value = 10\n", query, pick)
	}
	path := filepath.Join(t.TempDir(), "hpad.toml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// counter counts what is written to it.
type counter struct{ bytes *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return len(p), nil
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memoryOf reads a line of /proc/self/status, in MiB.
func memoryOf(key string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib / 1024
		}
	}
	return 0
}
