package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/algorithm/scenario"
	"github.com/hpad/hpad/daemon/api"
)

const (
	scenariosFile  = top + "/docs/scenarios.md"
	scenarioSample = top + "/docs/scenario-example.jsonl"
	apiFile        = top + "/docs/api.md"
)

func TestTheExampleOfScenariosDoesWhatItsDocumentShows(t *testing.T) {
	var shown []string
	for _, b := range blocksOf(t, "docs/scenarios.md") {
		shown = append(shown, b.text)
	}
	if len(shown) != 2 {
		t.Fatalf("docs/scenarios.md shows %d blocks, want a scenario and what is decided", len(shown))
	}
	var oneLine bytes.Buffer
	if err := json.Compact(&oneLine, []byte(shown[0])); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(scenarioSample)
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(file), "\n"); first != oneLine.String() {
		t.Errorf("the document shows another scenario than the file has first (-document +file):\n%s", cmp.Diff(oneLine.String(), first))
	}
	var out, errs bytes.Buffer
	code := execute(t.Context(), []string{"evaluate", "--explain", scenarioSample}, strings.NewReader(""), &out, &errs)
	if code != exitFine || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if diff := cmp.Diff(shown[1], out.String()); diff != "" {
		t.Errorf("what is decided (-document +now):\n%s", diff)
	}
}

func TestFormatsAreDocumentedInFull(t *testing.T) {
	for file, types := range map[string][]any{
		scenariosFile: {scenario.Scenario{}, scenario.Outcome{}},
		apiFile:       {api.WorkloadList{}, api.Problem{}},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]bool{}
		for _, v := range types {
			collectFields(reflect.TypeOf(v), fields)
		}
		if len(fields) < 20 {
			t.Errorf("found only %d fields for %s", len(fields), file)
		}
		for field := range fields {
			if !strings.Contains(string(text), "`"+field+"`") {
				t.Errorf("%s does not mention the field `%s`", filepath.Base(file), field)
			}
		}
	}
}

// collectFields adds the names that the fields of a type have in JSON, and those of their types.
func collectFields(t reflect.Type, fields map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collectFields(t.Elem(), fields)
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" {
				fields[name] = true
				collectFields(t.Field(i).Type, fields)
			}
		}
	}
}
