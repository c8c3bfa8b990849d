package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

// workloads are what an instance can do, by the first argument of the test binary.
func workloads() map[string]func(args []string) {
	return map[string]func([]string){
		"serve":  func([]string) { untilSignal(syscall.SIGTERM, syscall.SIGUSR1) },
		"fail":   func([]string) { os.Exit(3) },
		"deaf":   func([]string) { signal.Ignore(syscall.SIGTERM); untilSignal(syscall.SIGUSR2) },
		"family": family,
		"parent": func([]string) { child("serve") },
		"show":   show,
		"write":  write,
		"flood":  flood,
		"http":   serveHTTP,
		"daemon": daemon,
	}
}

// untilSignal announces that the process runs, and waits.
func untilSignal(signals ...os.Signal) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	fmt.Println("ready")
	fmt.Println("got", <-got)
}

// child starts the test binary as a child in the same group.
func child(command ...string) {
	cmd := exec.Command(os.Args[0], command...)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println("child", cmd.Process.Pid)
}

// family is a process with a child; neither minds a request to stop.
func family([]string) {
	child("deaf")
	workloads()["deaf"](nil)
}

// show prints its arguments and some of its environment.
func show(args []string) {
	fmt.Println("arguments", strings.Join(args, ","))
	for _, variable := range os.Environ() {
		fmt.Println("variable", variable)
	}
	directory, _ := os.Getwd()
	fmt.Println("directory", directory)
	fmt.Println("user", os.Getuid(), os.Getgid())
	untilSignal(syscall.SIGTERM)
}

// write prints what it is told, the numbers among it as so many letters, and ends.
func write(args []string) {
	for _, arg := range args {
		if n, err := strconv.Atoi(arg); err == nil {
			arg = strings.Repeat("x", n)
		}
		fmt.Println(arg)
		fmt.Fprintln(os.Stderr, arg+" on stderr")
	}
	fmt.Print("no line end")
}

// flood prints so many lines, and says in the file that it is done.
func flood(args []string) {
	n, _ := strconv.Atoi(args[0])
	out := bufio.NewWriter(os.Stdout)
	for i := range n {
		fmt.Fprintln(out, "line", i)
	}
	_ = out.Flush()
	if err := os.WriteFile(args[1], nil, 0o600); err != nil {
		panic(err)
	}
	untilSignal(syscall.SIGTERM)
}

// serveHTTP answers on its port with the status that stands in the file.
func serveHTTP(args []string) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", os.Getenv(portVariable)))
	if err != nil {
		panic(err)
	}
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := os.ReadFile(args[0])
		status, _ := strconv.Atoi(string(text))
		if r.URL.Path != "/healthz" {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
	}))
}

// daemon is an hpad with two instances, until it is killed.
func daemon([]string) {
	c, err := Driver().Open(targets.Environment{Log: slog.New(slog.NewTextHandler(os.Stdout, nil))}, options.NewTable("/", nil))
	if err != nil {
		panic(err)
	}
	bound, err := c.Bind(options.NewTable("/", map[string]any{"command": []any{ownProgram, "deaf"}, "replicas": int64(2)}))
	if err != nil {
		panic(err)
	}
	if err := bound.(targets.Activator).Activate(context.Background()); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
