package dockerapi

import (
	"context"

	"github.com/hpad/hpad/targets/internal/readings"
)

// Readings shares what is read of an engine.
type Readings[V any] = readings.Readings[V]

// NewReadings makes Readings by a function that reads what is known by each of the names.
func NewReadings[V any](read func(context.Context, []string) (map[string]V, error)) *Readings[V] {
	return readings.New(read)
}
