// Package daemon keeps workloads at the right size: it opens what a configuration names, evaluates
// every workload once per sync period, and serves what it did over HTTP.
//
// # The life of an evaluation
//
// One scheduler goroutine holds the times at which workloads are due. Workloads that ask the same
// query of the same source form a group and are due together, with one evaluation time, so that
// the query is asked once. A group's place within the sync period (its phase) follows from a hash
// of its name on a grid of half seconds, so the load is spread evenly, stays where it was after a
// restart, and wakes the process up twice per second at most. After a start
// or a reload, new workloads are evaluated within one second and then join their phase, unless
// that would come sooner than half a period after the first evaluation; then they join the next.
//
// An evaluation reads the target, asks the sources at the same time if the decision needs them,
// decides (package algorithm), applies at most one change, and publishes a report. The report is
// all that metrics and HTTP see; they never wait for an evaluation.
//
// # What is retried, and what stops
//
// Nothing is retried but a conflict: the target was changed since it was read, so it is read and
// decided again with the state from before, at most three times. Otherwise the next evaluation is
// the retry. A workload whose evaluation is still running when its turn comes is skipped that
// time: turns are locked to the phase. (The HPA controller waits one period from the end of the
// previous evaluation instead, so its turns drift.)
//
// An error, a hang or a panic ends at the workload's own evaluation. Concurrency is limited per
// target connection and per source, never across them.
package daemon
