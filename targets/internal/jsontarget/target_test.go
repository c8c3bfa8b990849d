package jsontarget

import (
	"context"
	"testing"

	"github.com/hpad/hpad/targets"
)

// side is another side in memory: it answers what it is told to, and keeps what it was asked.
type side struct {
	status string
	set    error
	asked  []*Request
}

func (s *side) Namespace() string { return "side:1" }

func (s *side) Carry(_ context.Context, r *Request) (*Status, error) {
	s.asked = append(s.asked, r)
	if r.Writes() {
		return nil, s.set
	}
	status, refusal, err := Decode(r, []byte(s.status))
	if err == nil {
		err = refusal
	}
	return status, err
}

func seen(replicas, version, more string) string {
	return status(`"spec_replicas":` + replicas + `,"status_replicas":0,"version":"` + version + `","instances":[]` + more)
}

func TestWhatMustNotBeWrittenIsNotAskedFor(t *testing.T) {
	from := targets.Status{SpecReplicas: 2, Version: "7"}
	for _, test := range []struct {
		name, status string
		replicas     int32
		class        targets.Class
	}{
		{"negative", seen("2", "7", ""), -1, targets.OutOfRange},
		{"absurd", seen("2", "7", ""), MaxReplicas + 1, targets.OutOfRange},
		{"another version", seen("2", "8", ""), 3, targets.Conflict},
		{"another count", seen("4", "7", ""), 3, targets.Conflict},
		{"blocked", seen("2", "7", `,"blocks":[{"up":true,"reason":"X","message":"x"}]`), 3, targets.Busy},
		{"garbled", "<html>", 3, targets.Unavailable},
		{"gone", `{"version":1,"error":{"class":"not_found"}}`, 3, targets.NotFound},
	} {
		s := &side{status: test.status}
		err := New(s, Options{Name: "web"}).SetReplicas(t.Context(), from, test.replicas)
		if err == nil || targets.ClassOf(err, true) != test.class {
			t.Errorf("%s: error is %v, want one of class %v", test.name, err, test.class)
		}
		for _, r := range s.asked {
			if r.Writes() {
				t.Errorf("%s: a change was asked for", test.name)
			}
		}
	}
	s := &side{status: seen("3", "8", "")}
	if err := New(s, Options{Name: "web"}).SetReplicas(t.Context(), from, 3); err != nil || len(s.asked) != 1 {
		t.Errorf("what is so already: error %v, %d requests", err, len(s.asked))
	}
}

func TestAChangeSaysWhatItIsBasedOnAndHasAnIDOfItsOwn(t *testing.T) {
	s := &side{status: seen("2", "7", "")}
	target := New(s, Options{Name: "web"})
	ids := map[string]bool{}
	for range 2 {
		s.asked = nil
		if err := target.SetReplicas(t.Context(), targets.Status{SpecReplicas: 2, Version: "7"}, 0); err != nil {
			t.Fatal(err)
		}
		r := s.asked[1]
		if *r.FromReplicas != 2 || *r.FromVersion != "7" || *r.Replicas != 0 || r.Operation != OperationSet || len(r.RequestID) < 16 {
			t.Errorf("the request is %s", r.JSON())
		}
		ids[r.RequestID] = true
	}
	if len(ids) != 2 {
		t.Errorf("two changes have the ids %v", ids)
	}
}
