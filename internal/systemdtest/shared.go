package systemdtest

import (
	"errors"
	"os"
	"sync"
	"testing"
)

// Shared is one manager for the tests of a package, launched by the first that asks for it. Its
// zero value is ready; TestMain calls Close after the tests.
type Shared struct {
	once    sync.Once
	manager *Manager
	err     error
}

// Manager returns the manager. Where none can run the test is skipped, or fails if CI is set.
func (s *Shared) Manager(t testing.TB) *Manager {
	t.Helper()
	s.once.Do(func() { s.manager, s.err = launch() })
	var u *unavailable
	required := os.Getenv("CI") != "" || os.Getenv("HPAD_REQUIRE_ALL") != ""
	if errors.As(s.err, &u) && !required {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.manager
}

// Close ends the manager and all its services, if there is one.
func (s *Shared) Close() error {
	if s.manager == nil {
		return nil
	}
	err := s.manager.close()
	<-s.manager.ended
	return err
}
