package daemon

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	bolt "go.etcd.io/bbolt"
)

// wornFile is the content of a state file that was in use.
func wornFile(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	s, err := openState(dir, slog.New(slog.DiscardHandler), newStateMetrics())
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range []string{"a", "b", "c"} {
		for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
			s.note(name, typical())
			s.note(round+name, typical())
		}
		s.commit(round, typical())
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// open opens a state of that content, and tells whether it was put aside.
func open(t *testing.T, text []byte) (aside bool) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, stateFile)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	metrics := newStateMetrics()
	s, err := openState(dir, slog.New(slog.DiscardHandler), metrics)
	if err != nil {
		t.Fatalf("damage keeps hpad from starting: %v", err)
	}
	s.commit("web", typical())
	if _, found := s.load("web"); !found {
		t.Error("nothing can be kept")
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	kept, err := filepath.Glob(path + ".corrupt-*")
	if err != nil {
		t.Fatal(err)
	}
	if counted := testutil.ToFloat64(metrics.damaged); int(counted) != len(kept) {
		t.Errorf("%v damaged files are counted, %d are put aside", counted, len(kept))
	}
	return len(kept) > 0
}

func TestDamagedStateIsPutAside(t *testing.T) {
	text := wornFile(t)
	if open(t, text) {
		t.Fatal("a sound file was put aside")
	}
	flipped := []byte(strings.Replace(string(text), "docker-swarm:unix", "docker-swarm:unix"[:16]+"y", 3))
	for name, damaged := range map[string][]byte{
		"garbage":       []byte(strings.Repeat("garbage ", 4096)),
		"one byte":      text[:1],
		"half":          text[:len(text)/2&^4095],
		"two pages":     text[:8192],
		"a record":      flipped,
		"pages of 0xff": append(append([]byte{}, text[:8192]...), []byte(strings.Repeat("\xff", len(text)-8192))...),
	} {
		sparse := name == "half" && strings.Trim(string(text[len(damaged):]), "\x00") == ""
		if !open(t, damaged) && !sparse {
			t.Errorf("%s is taken for sound", name)
		}
	}
}

func TestNoDamageEndsTheProcess(t *testing.T) {
	text := wornFile(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		damaged := append([]byte{}, text...)
		page := random.IntN(min(len(damaged)/4096, 32)) * 4096
		for range 1 + random.IntN(16) {
			damaged[page+random.IntN(200)] = byte(random.Uint32())
		}
		open(t, damaged)
	}
}

func TestStateOfANewerHpadIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.endsBadly = true
		w.writeDurable()
		w.start()
		pass(time.Second)
		w.halt()
		db, err := bolt.Open(w.stateFile(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketAbout).Put(keySchema, []byte("2")) })
		if err != nil || db.Close() != nil {
			t.Fatal(err)
		}
		w.start()
		err = w.stop()
		if err == nil || !strings.Contains(err.Error(), "a newer hpad wrote it (schema 2, this one knows 1)") {
			t.Errorf("Run: %v, want a refusal", err)
		}
	})
}

func TestSecondHpadOnOneStateIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.endsBadly = true
		w.writeDurable()
		w.start()
		pass(time.Second)
		first := w.stop
		w.start()
		pass(2 * time.Second)
		err := w.stop()
		want := `cannot open the state in "` + w.stateDir() + `": another hpad uses it`
		if err == nil || err.Error() != want {
			t.Errorf("Run: %v, want %s", err, want)
		}
		w.stop = first
	})
}

func TestFileThatTurnsOutDamagedIsReplaced(t *testing.T) {
	dir := t.TempDir()
	metrics := newStateMetrics()
	s, err := openState(dir, slog.New(slog.DiscardHandler), metrics)
	if err != nil {
		t.Fatal(err)
	}
	s.commit("before", typical())
	file, err := os.OpenFile(filepath.Join(dir, stateFile), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte(strings.Repeat("\xff", 1<<14)), 8192); err != nil {
		t.Fatal(err)
	}
	file.Close()
	for range 3 {
		s.commit("web", typical())
	}
	if n := testutil.ToFloat64(metrics.damaged); n != 1 {
		t.Errorf("%v damaged files are counted, want 1", n)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil || open(t, text) {
		t.Errorf("what replaces the file is not sound: %v", err)
	}
}
