package daemon

import (
	"log/slog"
	"os"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// notifier tells systemd how the daemon is (sd_notify). Without systemd it does nothing.
type notifier struct {
	log *slog.Logger
	// beats holds at most one heartbeat that was not sent yet.
	beats chan struct{}
}

func newNotifier(log *slog.Logger) *notifier {
	return &notifier{log: log, beats: make(chan struct{}, 1)}
}

func (n *notifier) ready(status string) {
	n.send(systemd.SdNotifyReady + "\nSTATUS=" + status)
}

// reloading must be followed by ready, also if the reload failed.
func (n *notifier) reloading() {
	n.send(systemd.SdNotifyReloading + "\n" + systemd.SdNotifyMonotonicUsec() + "\nSTATUS=reloading the configuration")
}

func (n *notifier) stopping() {
	n.send(systemd.SdNotifyStopping + "\nSTATUS=stopping")
}

func (n *notifier) send(state string) {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return
	}
	if _, err := systemd.SdNotify(false, state); err != nil {
		n.log.Warn("cannot notify systemd", "err", err)
	}
}

// watchdogInterval is how often systemd wants to hear from the daemon at the latest, with room to
// spare; 0 if it does not watch.
func watchdogInterval() time.Duration {
	limit, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		return 0
	}
	return limit / 3
}

// beat asks for a heartbeat. It never blocks, so that a systemd which does not listen cannot
// delay the scheduler.
func (n *notifier) beat() {
	select {
	case n.beats <- struct{}{}:
	default:
	}
}

// run sends the heartbeats until stop is closed.
func (n *notifier) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-n.beats:
			n.send(systemd.SdNotifyWatchdog)
		}
	}
}
