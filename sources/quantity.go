package sources

import (
	"math"

	"github.com/hpad/hpad/algorithm"
)

// QuantityOf converts a measured number to thousandths. What is finer than one thousandth is
// rounded up (docs/semantics.md, section 0); the binary error of a decimal number does not count as
// finer, so that 0.07 is 70 and not 71. NaN, infinities and numbers beyond ±9.2e15, which a
// Quantity cannot hold, are Invalid.
func QuantityOf(v float64) (algorithm.Quantity, error) {
	switch {
	case math.IsNaN(v):
		return 0, Errorf(Invalid, "is NaN, must be a number")
	case math.IsInf(v, 0):
		return 0, Errorf(Invalid, "is infinite, must be a finite number")
	}
	thousandths := v * 1000
	if math.Abs(thousandths) >= math.MaxInt64 {
		return 0, Errorf(Invalid, "is %g, must be within ±%g", v, float64(math.MaxInt64/1000))
	}
	const binaryError = 4 * 0x1p-53
	nearest := math.Round(thousandths)
	if math.Abs(thousandths-nearest) <= binaryError*math.Abs(thousandths) {
		return algorithm.Quantity(nearest), nil
	}
	return algorithm.Quantity(math.Ceil(thousandths)), nil
}
