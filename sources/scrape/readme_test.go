package scrape

import (
	"testing"

	"github.com/hpad/hpad/sources/sourcetest"
)

func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	sourcetest.README(t, Driver(), Defaults())
}
