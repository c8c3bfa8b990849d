// Package demo is the worker of the demonstration in config.example.toml: a small HTTP server
// whose load rises and falls by itself.
package demo

import (
	"math"
	"time"
)

// The load of the demonstration, in requests per second to all workers together.
const (
	quietLoad = 3.0
	peakLoad  = 45.0
)

// One turn of the load: quiet, rising, at its peak, falling, quiet again.
const (
	quietSpan = 15 * time.Second
	riseSpan  = 20 * time.Second
	peakSpan  = 15 * time.Second
	fallSpan  = 10 * time.Second
	restSpan  = 40 * time.Second
	turn      = quietSpan + riseSpan + peakSpan + fallSpan + restSpan
)

// offered is the load, in requests per second, so long after the start. It repeats every turn and
// has no jumps.
func offered(since time.Duration) float64 {
	at := since % turn
	rising := at - quietSpan
	falling := rising - riseSpan - peakSpan
	switch {
	case rising < 0:
		return quietLoad
	case rising < riseSpan:
		return between(float64(rising) / float64(riseSpan))
	case falling < 0:
		return peakLoad
	case falling < fallSpan:
		return between(1 - float64(falling)/float64(fallSpan))
	}
	return quietLoad
}

// between goes smoothly from the quiet load (0) to the peak (1).
func between(part float64) float64 {
	return quietLoad + (peakLoad-quietLoad)*(1-math.Cos(math.Pi*part))/2
}
