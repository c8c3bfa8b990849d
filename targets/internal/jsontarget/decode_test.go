package jsontarget

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/targets"
)

var (
	reading = &Request{Version: 1, Operation: OperationStatus, Target: "web"}
	writing = &Request{Version: 1, Operation: OperationSet, Target: "web"}
)

const whole = `{"version":1,"newer":{"x":1},"status":{
	"spec_replicas":3,"status_replicas":2,"version":"7","newer":true,
	"instances":[
		{"id":"a","identifiers":["10.0.0.1","a","10.0.0.1"],"phase":"running","ready":true,"pid":12,"newer":1,
		 "started":"2026-01-02T12:00:00Z","ready_transition":"2026-01-02T12:00:05.5+00:00","requests":{"memory":"1Gi","cpu":"250m"}},
		{"id":"b","phase":"pending","ready":false},
		{"id":"c","phase":"failed","deleting":true}],
	"blocks":[{"up":true,"reason":"Rollout","message":"a rollout\nis under way"}],
	"warnings":["disk is\tfull",""]}}`

func TestAStatusIsTakenAsItStands(t *testing.T) {
	status, refusal, err := Decode(reading, []byte(whole))
	if err != nil || refusal != nil {
		t.Fatal(refusal, err)
	}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	want := targets.Status{
		SpecReplicas: 3, StatusReplicas: 2, Version: "7",
		Instances: []targets.Instance{
			{
				Instance: algorithm.Instance{
					ID: "a", Phase: algorithm.PhaseRunning, Ready: algorithm.Ready,
					Started: noon, ReadyTransition: noon.Add(5500 * time.Millisecond),
					Containers: []algorithm.Container{{Requests: []algorithm.Request{{Resource: "cpu", Value: 250}, {Resource: "memory", Value: 1 << 30 * 1000}}}},
				},
				Identifiers: []string{"a", "10.0.0.1"},
				PID:         12,
			},
			{
				Instance:    algorithm.Instance{ID: "b", Phase: algorithm.PhasePending, Ready: algorithm.NotReady, Containers: []algorithm.Container{{}}},
				Identifiers: []string{"b"},
			},
			{
				Instance:    algorithm.Instance{ID: "c", Phase: algorithm.PhaseFailed, Ready: algorithm.ReadinessAbsent, Deleting: true, Containers: []algorithm.Container{{}}},
				Identifiers: []string{"c"},
			},
		},
		Blocks:   []targets.Block{{Up: true, Reason: "Rollout", Message: "a rollout is under way"}},
		Warnings: []string{"disk is full"},
	}
	if diff := cmp.Diff(want, status.convert()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// status is an answer with the fields of a status.
func status(fields string) string { return `{"version":1,"status":{` + fields + `}}` }

func TestWhatIsMissingWrongOrAbsurdIsAnErrorAndNoZero(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "empty"},
		{" \n", "empty"},
		{"\xff", "not UTF-8"},
		{"<html>", "not the JSON"},
		{whole[:len(whole)/2], "not the JSON"},
		{whole + "{}", "not the JSON"},
		{"0", "not the JSON"},
		{"null", `lacks "version"`},
		{"{}", `lacks "version"`},
		{`{"version":2,"status":{}}`, "of version 2"},
		{`{"version":"1"}`, `"version" cannot be a JSON string`},
		{`{"version":1}`, `lacks "status"`},
		{`{"version":1,"status":null}`, `lacks "status"`},
		{status(``), `lacks "spec_replicas"`},
		{status(`"spec_replicas":null,"status_replicas":0,"instances":[]`), `lacks "spec_replicas"`},
		{status(`"spec_replicas":0,"instances":[]`), `lacks "status_replicas"`},
		{status(`"spec_replicas":-1,"status_replicas":0,"instances":[]`), `must be 0 … 1000000, is -1`},
		{status(`"spec_replicas":0,"status_replicas":-2,"instances":[]`), `must be 0 … 1000000, is -2`},
		{status(`"spec_replicas":1000001,"status_replicas":0,"instances":[]`), `is 1000001`},
		{status(`"spec_replicas":1e99,"status_replicas":0,"instances":[]`), "not the JSON"},
		{status(`"spec_replicas":1.5,"status_replicas":0,"instances":[]`), "not the JSON"},
		{status(`"spec_replicas":"2","status_replicas":0,"instances":[]`), "not the JSON"},
		{status(`"spec_replicas":0,"status_replicas":0`), `lacks "instances"`},
		{status(`"spec_replicas":0,"status_replicas":0,"instances":null`), `lacks "instances"`},
		{status(`"spec_replicas":2,"status_replicas":2,"instances":[]`), `"instances" is empty`},
		{instances(`{}`), `instances[0]: "id"`},
		{instances(`null`), `instances[0]: "id"`},
		{instances(`{"id":"a","phase":"running"},{"id":"a","phase":"running"}`), `instances[1]: "id"`},
		{instances(`{"id":"a"}`), `"phase"`},
		{instances(`{"id":"a","phase":"Running"}`), `is "Running"`},
		{instances(`{"id":"a","phase":"running","identifiers":[""]}`), `an empty one`},
		{instances(`{"id":"a","phase":"running","ready":"yes"}`), "not the JSON"},
		{instances(`{"id":"a","phase":"running","started":"yesterday"}`), "not the JSON"},
		{instances(`{"id":"a","phase":"running","pid":-1}`), `"pid"`},
		{instances(`{"id":"a","phase":"running","requests":{"cpu":"many"}}`), `"requests" of "cpu"`},
		{instances(`{"id":"a","phase":"running","requests":{"cpu":"0"}}`), `must be > 0`},
		{instances(`{"id":"a","phase":"running","requests":{"cpu":"-1"}}`), `must be > 0`},
		{status(`"spec_replicas":0,"status_replicas":0,"instances":[],"blocks":[{"reason":"X","message":"x"}]`), "blocks[0]"},
		{status(`"spec_replicas":0,"status_replicas":0,"instances":[],"blocks":[{"up":true,"reason":"not a word","message":"x"}]`), "blocks[0]"},
		{status(`"spec_replicas":0,"status_replicas":0,"instances":[],"blocks":[{"up":true,"reason":"X","message":" "}]`), "blocks[0]"},
		{`{"version":1,"error":{}}`, "unknown class"},
		{`{"version":1,"error":{"class":"sad"}}`, `unknown class "sad"`},
		{`{"version":1,"error":{"class":"throttled","retry_after":"soon"}}`, "retry_after"},
		{`{"version":1,"error":{"class":"throttled","retry_after":"-1s"}}`, "retry_after"},
		{`{"version":1,"error":{"class":"throttled","retry_after":"2d"}}`, "retry_after"},
	} {
		got, refusal, err := Decode(reading, []byte(test.text))
		if err == nil || got != nil || refusal != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: status %v, refusal %v, error %v, want %q", test.text, got, refusal, err, test.want)
		}
	}
}

func instances(list string) string {
	return status(`"spec_replicas":1,"status_replicas":1,"instances":[` + list + `]`)
}

func TestARefusalKeepsItsClassItsWordsAndItsWait(t *testing.T) {
	for class := targets.Unavailable; class <= targets.Uncertain; class++ {
		text := `{"version":1,"status":{},"error":{"class":"` + class.String() + `","message":"line\u0007 one\ntwo","retry_after":"30s"}}`
		for _, r := range []*Request{reading, writing} {
			_, refusal, err := Decode(r, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := refusal.(*targets.Error)
			if got == nil || got.Class != class || got.RetryAfter != 30*time.Second || got.Error() != "line one two" {
				t.Errorf("%s is %+v", text, refusal)
			}
		}
	}
}

func TestAnAcceptedChangeIsAnAnswerOfTheContract(t *testing.T) {
	if _, refusal, err := Decode(writing, []byte(`{"version":1}`)); refusal != nil || err != nil {
		t.Error(refusal, err)
	}
	for _, text := range []string{"", "ok", "<html>", "{}", `{"version":2}`, "true"} {
		if _, refusal, err := Decode(writing, []byte(text)); refusal != nil || err == nil {
			t.Errorf("%q: refusal %v, error %v, want an error", text, refusal, err)
		}
	}
}

func FuzzAnAnswerIsWholeOrAnError(f *testing.F) {
	for _, text := range []string{
		whole, status(`"spec_replicas":0,"status_replicas":0,"instances":[]`), `{"version":1,"error":{"class":"busy","retry_after":"1s"}}`,
		instances(`{"id":"a","phase":"running","requests":{"cpu":"1e9"}}`), "{}", "null", "<html>", `{"version":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, refusal, err := Decode(reading, text)
		some := 0
		for _, is := range []bool{got != nil, refusal != nil, err != nil} {
			if is {
				some++
			}
		}
		if some != 1 {
			t.Fatalf("%q: status %v, refusal %v, error %v, want just one", text, got, refusal, err)
		}
		if err != nil && err.Error() == "" || refusal != nil && refusal.Error() == "" {
			t.Errorf("%q: an error without words", text)
		}
		if got == nil {
			return
		}
		if !strings.Contains(string(text), ":") {
			t.Errorf("a status is made up of %q", text)
		}
		status := got.convert()
		if status.SpecReplicas < 0 || status.SpecReplicas > MaxReplicas || status.StatusReplicas < 0 || status.StatusReplicas > 0 && len(status.Instances) == 0 {
			t.Errorf("%q is the status %+v", text, status)
		}
		for _, i := range status.Instances {
			if i.ID == "" || len(i.Identifiers) == 0 || i.Identifiers[0] != i.ID || i.PID < 0 {
				t.Errorf("%q has the instance %+v", text, i)
			}
		}
	})
}
