package algorithm

import "time"

// Instant is a moment in nanoseconds since 1970 UTC, as a State remembers it. It holds no pointer,
// as a time.Time does, so that long histories are cheap to copy and nothing to the garbage
// collector.
type Instant int64

// InstantOf returns the Instant of a time between the years 1678 and 2262.
func InstantOf(t time.Time) Instant { return Instant(t.UnixNano()) }

// Time is the Instant as a time, in UTC.
func (i Instant) Time() time.Time { return time.Unix(0, int64(i)).UTC() }

// Add returns the Instant so much later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }
