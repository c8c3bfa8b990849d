package main

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a script waits for what must happen.
const patience = 60 * time.Second

// raceOptions let a program with the race detector end at once; by default it waits for a second.
const raceOptions = "atexit_sleep_ms=10"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hpad": main, "ask": ask})
}

// TestScripts runs testdata/*.txtar against the real program. Beyond testscript's own commands:
//
//	exits CODE COMMAND…          the command ends with this exit code
//	eventually PATTERN COMMAND…  the command's output matches soon
//	signal HUP|TERM              sends a signal to the background command
//	gone PID_FILE                the processes listed in the file end soon
//
// In *.toml files of a script @PAGE@ is the address of a page that shows the file metrics.txt, and
// @LISTEN@ an address nobody uses.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("HPAD_UPDATE") != "",
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"eventually": eventually,
			"signal":     sendSignal,
			"gone":       gone,
		},
	})
}

func setUp(env *testscript.Env) error {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(env.WorkDir, "metrics.txt"))
	}))
	env.Defer(page.Close)
	listen, err := freeAddress()
	if err != nil {
		return err
	}
	env.Setenv("LISTEN", listen)
	env.Setenv("PAGE", page.URL)
	env.Setenv("HPAD_ADDRESS", "")
	env.Setenv("GORACE", raceOptions)
	return filepath.WalkDir(env.WorkDir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".toml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		filled := strings.NewReplacer("@PAGE@", page.URL, "@LISTEN@", listen).Replace(string(text))
		return os.WriteFile(path, []byte(filled), 0o600)
	})
}

// freeAddress is an address on this machine where nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// poll calls done until it says so.
func poll(ts *testscript.TestScript, what string, done func() bool) {
	deadline := time.Now().Add(patience)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		if time.Now().After(deadline) {
			ts.Fatalf("waited in vain for %s", what)
		}
		<-ticker.C
	}
}

func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND…")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	poll(ts, args[0], func() bool {
		// A command may fail until what it asks for is there.
		_ = ts.Exec(args[1], args[2:]...)
		return pattern.MatchString(ts.ReadFile("stdout"))
	})
}

func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM}
	if neg || len(args) != 1 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal HUP|TERM")
	}
	commands := ts.BackgroundCmds()
	if len(commands) != 1 {
		ts.Fatalf("%d commands in the background, want 1", len(commands))
	}
	ts.Check(commands[0].Process.Signal(signals[args[0]]))
}

func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PID_FILE")
	}
	pids := strings.Fields(ts.ReadFile(args[0]))
	if len(pids) == 0 {
		ts.Fatalf("%s lists no process", args[0])
	}
	for _, pid := range pids {
		n, err := strconv.Atoi(pid)
		ts.Check(err)
		poll(ts, "the end of process "+pid, func() bool { return syscall.Kill(n, 0) == syscall.ESRCH })
	}
}

// ask is a program that prints the status and the body of an HTTP answer: ask METHOD URL.
func ask() {
	request, err := http.NewRequest(os.Args[1], os.Args[2], nil)
	if err == nil {
		var response *http.Response
		if response, err = http.DefaultClient.Do(request); err == nil {
			fmt.Println(response.StatusCode)
			err = response.Write(os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
