package process

import "time"

// backoff is the delay before an instance is started again: it doubles from first to most, and
// begins anew once the instance has run for healthyAfter.
type backoff struct {
	first, most, healthyAfter time.Duration

	last time.Duration
}

// next returns the delay after a process that ran for `ran`.
func (b *backoff) next(ran time.Duration) time.Duration {
	if b.last == 0 || ran >= b.healthyAfter {
		b.last = b.first
		return b.last
	}
	b.last = min(b.last*2, b.most)
	return b.last
}
