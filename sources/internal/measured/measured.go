// Package measured is what the sources that measure instances have in common beside counters.
package measured

import (
	"math"
	"time"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

// Once is the sample of an evaluation time, absent if it could not be measured then. It is kept so
// that who asks again at that time gets the same.
type Once struct {
	At     time.Time
	Sample algorithm.Sample
}

// Memory is a sample of so many bytes; absent if a Quantity cannot hold them.
func Memory(bytes uint64, at time.Time) algorithm.Sample {
	if bytes > math.MaxInt64/1000 {
		return algorithm.Sample{}
	}
	return algorithm.Sample{Present: true, Value: algorithm.Quantity(bytes * 1000), Time: at}
}

// IsPart tells whether a container of that name is all there is of the instance, so that measuring
// the instance measures it. The empty name is that of the whole instance.
func IsPart(name string, in *targets.Instance) bool {
	return name == "" || len(in.Containers) == 1 && in.Containers[0].Name == name
}
