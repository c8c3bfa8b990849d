package docker

import "github.com/hpad/hpad/internal/dockertest"

// shared is one real engine for all tests that need one.
var shared dockertest.Shared
