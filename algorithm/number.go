package algorithm

import "math"

// Where a float does not fit, Go leaves the result to the machine. Here it saturates instead, on
// every architecture, and NaN becomes 0.

func saturate32(f float64) int32 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt32:
		return math.MaxInt32
	case f <= math.MinInt32:
		return math.MinInt32
	}
	return int32(f)
}

func saturate64(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt64: // as a float64 this is 2^63, one more than fits
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

func ceil32(f float64) int32 { return saturate32(math.Ceil(f)) }

func clamp32(n int64) int32 {
	return int32(max(math.MinInt32, min(n, math.MaxInt32)))
}
