package main

import (
	"strings"
	"testing"
)

func TestTheFirstConfigurationHasTwelveLines(t *testing.T) {
	for _, b := range blocksOf(t, "README.md") {
		if b.language != "toml" {
			continue
		}
		if n := len(lines(b.text)); n != 12 {
			t.Errorf("it has %d lines:\n%s", n, strings.TrimSpace(b.text))
		}
		return
	}
	t.Error("README.md shows no configuration")
}
