package process

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// workloads are what an instance can do, by the first argument of the test binary.
func workloads() map[string]func(args []string) {
	return map[string]func([]string){
		"serve": func([]string) { untilSignal(syscall.SIGTERM) },
	}
}

// untilSignal announces that the process runs, and waits.
func untilSignal(signals ...os.Signal) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	fmt.Println("ready")
	<-got
}
