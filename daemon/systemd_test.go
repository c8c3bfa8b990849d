package daemon

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listenNotify is systemd's side of sd_notify.
func listenNotify(t *testing.T) <-chan string {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", path)
	messages := make(chan string, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 4096)
		for {
			n, err := conn.Read(buffer)
			if err != nil {
				return
			}
			messages <- string(buffer[:n])
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return messages
}

func next(t *testing.T, messages <-chan string) string {
	t.Helper()
	select {
	case m := <-messages:
		return m
	case <-time.After(10 * time.Second):
		t.Fatal("systemd was told nothing for 10s")
		return ""
	}
}

func TestSystemdIsToldOfEveryStage(t *testing.T) {
	messages := listenNotify(t)
	w := newWorld(t)
	w.targets.Add("web", 2)
	w.source.Value("q", 20)
	w.write(queueWorkload("web", "q"))
	w.start()
	if m := next(t, messages); !strings.HasPrefix(m, "READY=1\nSTATUS=1 workloads") {
		t.Errorf("after the start systemd was told %q", m)
	}
	w.write("nonsense")
	if err := w.reload(); err == nil {
		t.Error("a broken configuration was reloaded")
	}
	if m := next(t, messages); !strings.HasPrefix(m, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("at the reload systemd was told %q", m)
	}
	if m := next(t, messages); !strings.HasPrefix(m, "READY=1\n") || !strings.Contains(m, "failed") {
		t.Errorf("after the failed reload systemd was told %q", m)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if m := next(t, messages); !strings.HasPrefix(m, "STOPPING=1") {
		t.Errorf("at the end systemd was told %q", m)
	}
}

func TestHeartbeatsReachSystemd(t *testing.T) {
	messages := listenNotify(t)
	t.Setenv("WATCHDOG_USEC", "300000")
	w := newWorld(t)
	w.write()
	w.start()
	next(t, messages)
	for range 3 {
		if m := next(t, messages); m != "WATCHDOG=1" {
			t.Errorf("systemd was told %q, want a heartbeat", m)
		}
	}
}

func TestHeartbeatsStopWithTheScheduler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beats := 0
		stuck := make(chan struct{})
		s := newScheduler(func(*workload, *round) { <-stuck })
		s.beat, s.beatEvery = func() { beats++ }, 10*time.Second
		ctx, cancel := context.WithCancel(context.Background())
		go s.run(ctx)
		pass(61 * time.Second)
		if beats != 6 {
			t.Errorf("%d heartbeats in 61s with nothing to do, want 6", beats)
		}
		s.plan([]*turn{{due: time.Now(), members: []*workload{{}}}})
		pass(time.Minute)
		if beats > 7 {
			t.Errorf("%d heartbeats although the scheduler is stuck", beats)
		}
		close(stuck)
		pass(11 * time.Second)
		if beats < 7 {
			t.Error("no heartbeat after the scheduler went on")
		}
		cancel()
	})
}
