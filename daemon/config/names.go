package config

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

var namePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?$`)

const nameRule = `at most 63 of a-z, 0-9, "-", "_", ".", a letter or digit first and last`

func quoted(s string) string { return strconv.Quote(s) }

// suggestion continues a message about an unknown word.
func suggestion(word string, known []string) string {
	if meant := options.Closest(word, known); meant != "" {
		return fmt.Sprintf(", did you mean %q", meant) + knownAre(known)
	}
	return knownAre(known)
}

func knownAre(known []string) string {
	if len(known) == 0 {
		return ""
	}
	return "; known are " + strings.Join(known, ", ")
}

// without returns a copy of a table without one key.
func without(values map[string]any, key string) map[string]any {
	rest := maps.Clone(values)
	delete(rest, key)
	return rest
}
