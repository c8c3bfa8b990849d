package webhook

import (
	"testing"

	"github.com/hpad/hpad/targets/internal/jsontarget"
	"github.com/hpad/hpad/targets/internal/readme"
)

func TestREADMEDescribesTheOptionsAsTheyAre(t *testing.T) {
	readme.Options(t, "Keys of `[targets.NAME]`:", defaults(), "Keys of a workload's `target`:", jsontarget.Options{})
}
