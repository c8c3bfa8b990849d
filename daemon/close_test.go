package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/hpad/hpad/targets"
)

// slowToClose is a target whose instances take their time to stop.
type slowToClose struct{ targets.Target }

func (slowToClose) Close() error { time.Sleep(10 * time.Second); return nil }

func TestShutdownClosesTargetsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.source.Value("q", 20)
		var names, text []string
		for _, name := range []string{"a", "b", "c"} {
			names = append(names, name)
			text = append(text, strings.Replace(queueWorkload(name, "q"), `via = "fake"`, `via = "slow"`, 1))
		}
		next := 0
		w.moreTargets = []targets.Driver{{Name: "slow", Open: openEach(func() targets.Target {
			next++
			return slowToClose{w.targets.Add(names[next-1], 2).Target()}
		})}}
		w.write(text...)
		w.start()
		pass(time.Second)
		began := time.Now()
		if err := w.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("the shutdown took %s, want the 10s of one target", took)
		}
	})
}

func TestSourceThatIsStillAnsweringWhenItIsRemovedLeavesNoSeries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 20)
		w.source.Delay(5 * time.Second)
		w.write("[sources.extra]\ndriver = \"fake\"\n", strings.Replace(queueWorkload("web", "q"), `source = "fake"`, `source = "extra"`, 1))
		w.start()
		pass(2 * time.Second)
		w.write()
		if err := w.reload(); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		if text := w.ask("GET", "/metrics", false).Body.String(); strings.Contains(text, `source="extra"`) {
			t.Error("the source that was removed has series")
		}
	})
}
