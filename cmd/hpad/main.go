// Command hpad keeps workloads outside Kubernetes at the right size, by the rules of the
// HorizontalPodAutoscaler: a daemon, and the commands that check its configuration, show what it
// does and answer what it would do.
//
// main turns signals into a context and the error of a command into an exit code: 0 fine, 1
// failed, 2 bad input. Each command has a file of its own; drivers.go lists the drivers.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks, the second one is the system's default: it ends hpad at once.
	context.AfterFunc(ctx, stop)
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
