package options

import (
	"fmt"
	"strings"
)

// unknownKey says that a table has no such key, and which was probably meant.
func unknownKey(table, name string, known []string) error {
	message := fmt.Sprintf("unknown key %q", name)
	meant := Closest(name, known)
	if meant != "" {
		message += fmt.Sprintf(", did you mean %q?", meant)
		meant = JoinKey(table, meant)
	}
	return &KeyError{Key: JoinKey(table, Quote(name)), Message: message, Unknown: name, Meant: meant}
}

// Closest returns the known word that was probably meant by word, or "". Case and separators
// count for nothing: "minReplicas" means "min_replicas". Nor does what follows a whole word:
// "periodSeconds" means "period".
func Closest(word string, known []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	plain := plainWord(word)
	best, bestDistance := "", len(plain)/3+1
	if len(plain) < 2 {
		return ""
	}
	for _, candidate := range known {
		if d := distance(plain, plainWord(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best != "" {
		return best
	}
	const shortest = 4
	for _, candidate := range known {
		begin := plainWord(candidate)
		if len(begin) >= max(shortest, len(plainWord(best))) && strings.HasPrefix(plain, begin) {
			best = candidate
		}
	}
	return best
}

func plainWord(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

// distance is the number of insertions, deletions, changes and swaps of neighbours between a and
// b (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
