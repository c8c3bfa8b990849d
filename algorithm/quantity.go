package algorithm

import (
	"fmt"
	"math"
	"strconv"
)

// Quantity is a number in thousandths: 0.25 cores are 250, 1 MiB is 1 048 576 000.
type Quantity int64

// ParseQuantity reads the Kubernetes notation: "250m", "1.5", "512Mi", "2e3". What is finer than
// a thousandth is rounded up, what is too large saturates.
func ParseQuantity(s string) (Quantity, error) {
	d, err := parseDecimal(s)
	if err != nil {
		return 0, fmt.Errorf("cannot read quantity %q: %w", s, err)
	}
	n, _ := d.scaled(3)
	return Quantity(n), nil
}

// Float returns the number, 0.25 for 250 thousandths.
func (q Quantity) Float() float64 { return float64(q) / 1000 }

// String is the Kubernetes notation without large suffixes: "3", "250m".
func (q Quantity) String() string {
	if q%1000 == 0 {
		return strconv.FormatInt(int64(q/1000), 10)
	}
	return strconv.FormatInt(int64(q), 10) + "m"
}

// ParseTolerance reads the tolerance of a direction as the HPA does: a decimal quantity, held as
// an integer of units, thousandths, millionths or billionths, whichever is the coarsest that is
// exact, times that unit. So "0.7" is 700 × 0.001, which is not 0.7 (docs/semantics.md, section 6).
func ParseTolerance(s string) (float64, error) {
	d, err := parseDecimal(s)
	if err != nil {
		return 0, fmt.Errorf("cannot read tolerance %q: %w", s, err)
	}
	for _, digits := range []int{0, 3, 6} {
		if n, exact := d.scaled(digits); exact {
			return float64(n) * math.Pow10(-digits), nil
		}
	}
	n, _ := d.scaled(9)
	return float64(n) * math.Pow10(-9), nil
}
