package algorithm_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hpad/hpad/algorithm/scenario"
)

// TestDecidesAsUpstream replays scenarios whose expectations were made by the HPA controller of
// Kubernetes v1.36.3, and compares every field. HPAD_VECTORS names other files than the one in
// testdata, separated by commas; those ending in .gz are unpacked.
func TestDecidesAsUpstream(t *testing.T) {
	names := []string{"testdata/vectors.jsonl.gz"}
	if named := os.Getenv("HPAD_VECTORS"); named != "" {
		names = strings.Split(named, ",")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { replayFile(t, name) })
	}
}

func replayFile(t *testing.T, name string) {
	scenarios, steps, expected, failed := 0, 0, 0, 0
	for s, err := range scenario.Read(open(t, name)) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		scenarios++
		outcome := scenario.Run(s)
		matches := true
		for i := range s.Steps {
			steps++
			if s.Steps[i].Expect == nil {
				continue
			}
			expected++
			if diff := compare(s.Steps[i].Expect, &outcome.Steps[i]); diff != "" {
				matches = false
				t.Errorf("%s, step %d at %d s (-upstream +hpad):\n%s", s.Name, i, *s.Steps[i].At, diff)
			}
		}
		if !matches {
			failed++
		}
	}
	t.Logf("%s: %d of %d scenarios as upstream, none left out; %d steps compared, %d without expectation",
		name, scenarios-failed, scenarios, expected, steps-expected)
	if expected == 0 {
		t.Errorf("%s: nothing to compare", name)
	}
}

// compare says how two results differ, in any field; the order of events is nobody's promise.
func compare(want, got *scenario.Result) string {
	return cmp.Diff(want, got,
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(scenario.Result{}, "Decision"),
		cmpopts.SortSlices(strings.Compare),
		cmpopts.IgnoreFields(scenario.MetricResult{}, "PlatformDependent"))
}

func open(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return bufio.NewReader(f)
	}
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return unpacked
}
