package scenario

import (
	"fmt"
	"strconv"
	"time"
)

// Seconds is a moment on the scenario's clock, or a duration, in whole seconds.
type Seconds int64

// maxSeconds, some 136 years, keeps every sum of moments and durations far from overflowing.
const maxSeconds = 1 << 32

// UnmarshalJSON refuses what is not a whole number, or is beyond ±2³² s.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("cannot use %.40q as whole seconds", text)
	}
	if n < -maxSeconds || n > maxSeconds {
		return fmt.Errorf("cannot use %d s: must be within ±%d s", n, int64(maxSeconds))
	}
	*s = Seconds(n)
	return nil
}

func (s Seconds) duration() time.Duration { return time.Duration(s) * time.Second }

// moment places the scenario's clock well away from the zero Time, which has a meaning.
func (s Seconds) moment() time.Time {
	const epoch = 946684800 // 2000-01-01 00:00 UTC
	return time.Unix(epoch+int64(s), 0).UTC()
}

// or is *s, or what stands for a missing value.
func or[T any](s *T, missing T) T {
	if s == nil {
		return missing
	}
	return *s
}
