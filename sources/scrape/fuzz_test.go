package scrape

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hpad/hpad/sources"
)

func FuzzPageIsNeverMadeUp(f *testing.F) {
	for _, page := range []string{textPage, openPage, "x\n", "x{} \n", "x{a=\"b\"} 1 2\n# EOF", "{\"x\"} 1\n", "x 1 # {} 2\n# EOF\n", "<html>"} {
		f.Add([]byte(page), true)
		f.Add([]byte(page), false)
	}
	f.Fuzz(func(t *testing.T, page []byte, open bool) {
		contentType := "text/plain"
		if open {
			contentType = "application/openmetrics-text"
		}
		series, err := parsePage(page, contentType, noon)
		if err != nil {
			return
		}
		if lines := bytes.Count(page, []byte("\n")) + 1; len(series) > lines {
			t.Errorf("%d series are made of %d lines: %q", len(series), lines, page)
		}
		for _, s := range series {
			if s.Value == 0 && !bytes.ContainsAny(page, "0") && !strings.Contains(strings.ToLower(string(page)), "e-") {
				t.Errorf("a zero is made up of %q", page)
			}
		}
	})
}

func FuzzSelectorSelectsWhatFits(f *testing.F) {
	for _, text := range []string{`x`, `x{a="b"}`, `{__name__=~".*"}`, `x{a!~"("}`, `{"a.b",c=""}`, `x[5m]`, `{`} {
		f.Add(text)
	}
	whole := sources.NewResult([]sources.Series{
		{Labels: map[string]string{"__name__": "x", "a": "b"}, Value: 1},
		{Labels: map[string]string{"__name__": "a.b", "c": "d"}, Value: 2},
	}, nil)
	f.Fuzz(func(t *testing.T, text string) {
		matchers, err := parseSelector(text)
		if err != nil {
			return
		}
		for _, s := range selectSeries(whole, matchers) {
			if !matches(matchers, s.Labels) {
				t.Errorf("%q selects %v", text, s.Labels)
			}
		}
	})
}
