package daemon

import (
	"strings"
	"testing"
	"time"
)

func TestReloadSaysWhatItChanged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.source.Value("q", 20)
		w.write(queueWorkload("kept", "q"), queueWorkload("wider", "q"), queueWorkload("gone", "q"))
		w.start()
		pass(time.Second)
		w.log.take()
		var came []string
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			came = append(came, queueWorkload(name, "q"))
		}
		w.write(queueWorkload("kept", "q"), queueWorkload("wider", "q", "dry_run = true"), strings.Join(came, ""))
		answer := w.ask("POST", "/-/reload", true).Body.String()
		want := "configuration reloaded: 7 added (a, b, c, d, e, and 2 more), 1 changed (wider), 1 removed (gone)\n"
		if answer != want {
			t.Errorf("the answer is %q, want %q", answer, want)
		}
		log := w.log.take()
		if !strings.Contains(log, "workloads=9 added=7 changed=1 removed=1 "+
			`added_names="a, b, c, d, e, and 2 more" changed_names=wider removed_names=gone`) {
			t.Errorf("the log does not say what changed:\n%s", log)
		}
		if answer := w.ask("POST", "/-/reload", true).Body.String(); answer != "configuration reloaded: no workload changed\n" {
			t.Errorf("a reload that changes nothing says %q", answer)
		}
	})
}

func TestSettingsThatTakeARestartAreComparedWithWhatRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.write()
		w.start()
		pass(time.Second)
		listening := strings.Replace(head, `listen = ""`, `listen = "127.0.0.1:1"`, 1)
		for range 2 {
			w.writeAll(listening)
			answer := w.ask("POST", "/-/reload", true).Body.String()
			if !strings.Contains(answer, "\nwarning: daemon.listen changed, which takes a restart\n") {
				t.Errorf("the answer has no warning: %q", answer)
			}
			if log := w.log.take(); !strings.Contains(log, `msg="setting changed, which takes a restart" key=daemon.listen`) {
				t.Errorf("the log has no warning:\n%s", log)
			}
		}
		w.write()
		if answer := w.ask("POST", "/-/reload", true).Body.String(); strings.Contains(answer, "restart") {
			t.Errorf("what runs is configured again, and still: %q", answer)
		}
	})
}

func TestLogOfARefusedReloadSaysWhatIsInForce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.write()
		w.start()
		pass(time.Second)
		w.write("nonsense")
		if err := w.reload(); err == nil {
			t.Fatal("nonsense was reloaded")
		}
		if log := w.log.take(); strings.Count(log, "the configuration before stays in force") != 1 {
			t.Errorf("the log does not say what is in force:\n%s", log)
		}
	})
}

func TestDryRunTellsOfEveryChangeItWouldMakeOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.targets.Add("web", 2)
		w.source.Value("q", 80)
		w.write(queueWorkload("web", "q", "dry_run = true"))
		w.start()
		pass(5 * time.Minute)
		log := w.log.take()
		if strings.Count(log, "would scale") != 1 ||
			!strings.Contains(log, `msg="would scale" workload=web from=2 to=4 reason="external metric`) || !strings.Contains(log, "metric=queue") {
			t.Errorf("one change that is wanted must be one line, is:\n%s", log)
		}
		events := w.workload("web").Events
		if n := len(events); n != 1 || events[0].Reason != "DryRun" || !strings.HasPrefix(events[0].Message, "would scale from 2 to 4 replicas; ") {
			t.Errorf("events are %+v, want one of the dry run", events)
		}
		w.source.Value("q", 30)
		pass(20 * time.Minute)
		w.source.Value("q", 20)
		pass(20 * time.Minute)
		w.source.Value("q", 30)
		pass(time.Minute)
		if log := w.log.take(); strings.Count(log, "would scale") != 2 {
			t.Errorf("two changes of what is wanted must be two lines, are:\n%s", log)
		}
	})
}
