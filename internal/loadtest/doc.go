// Package loadtest measures what many workloads cost: a whole daemon with targets in memory, and a
// Prometheus in a process of its own, so that only hpad's CPU time and memory are counted.
//
//	go test ./internal/loadtest -run TestLoad -load 60s -v
//
// Without -load the test checks that the harness works, in a second.
package loadtest
