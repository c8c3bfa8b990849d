package dockertest

import (
	"sync"
	"testing"
)

// Shared is one engine for the tests of a package, launched by the first that asks for it. Its
// zero value is ready; TestMain calls Close after the tests.
type Shared struct {
	once   sync.Once
	engine *Engine
	err    error
}

// Engine returns the engine, or skips or fails the test as Start does.
func (s *Shared) Engine(t testing.TB) *Engine {
	t.Helper()
	s.once.Do(func() { s.engine, s.err = Launch() })
	if s.err != nil {
		skipOrFail(t, s.err)
	}
	return s.engine
}

// Close closes the engine if there is one.
func (s *Shared) Close() error {
	if s.engine == nil {
		return nil
	}
	return s.engine.Close()
}
