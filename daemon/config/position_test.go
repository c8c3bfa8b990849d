package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
)

const everyForm = `# a comment with [brackets] and "quotes"
title = "a # no comment" # a comment
dotted.key.deep = 1
dotted . "odd key" = 2
'literal.key' = 3
"escaped\tkey" = 4
long = """
line with "quotes", \""" and
[no.table]
"""
longLiteral = '''
key = "no key"
''''' # ends with two quotes of its own
numbers = [ 1,
  2, # two
  # between
  [ 31,
    32 ],
]
inline = { a = 1, b.c = "}", d = [ { e = 1 }, { e = 2 } ] }
date = 1979-05-27 07:32:00Z

[table]
a = '\'
[ spaced . "table" ]
b = 2
[deep.below.all]
c = 3
[deep]
d = 4

[[list]]
name = "a"
[[list.inner]]
x = 1
[[list.inner]]
x = 2
[list.inner.sub]
y = 3
[[list]]
name = "b"
[[list.inner]]
x = 4
`

func TestEveryFormOfKeyIsFoundOnItsLine(t *testing.T) {
	want := map[string]int{
		"title": 2, "dotted": 3, "dotted.key.deep": 3, `dotted."odd key"`: 4, `"literal.key"`: 5,
		`"escaped\tkey"`: 6, "long": 7, "longLiteral": 11, "numbers": 14, "numbers[0]": 14,
		"numbers[1]": 15, "numbers[2]": 17, "numbers[2][0]": 17, "numbers[2][1]": 18,
		"inline": 20, "inline.b.c": 20, "inline.d[1].e": 20, "date": 21, "table": 23, "table.a": 24,
		"spaced": 25, "spaced.table.b": 26, "deep": 27, "deep.below.all.c": 28, "deep.d": 30,
		"list": 32, "list[0]": 32, "list[0].name": 33, "list[0].inner[0].x": 35,
		"list[0].inner[1]": 36, "list[0].inner[1].x": 37, "list[0].inner[1].sub.y": 39,
		"list[1]": 40, "list[1].name": 41, "list[1].inner[0].x": 43,
	}
	for name, text := range map[string]string{
		"unix line ends":    everyForm,
		"windows line ends": strings.ReplaceAll(everyForm, "\n", "\r\n"),
		"byte order mark":   "\ufeff" + everyForm,
	} {
		t.Run(name, func(t *testing.T) {
			found := indexLines(text)
			got := map[string]int{}
			for path := range want {
				got[path] = found.at[path]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			requireIndexed(t, text, found)
		})
	}
}

func TestWhatIsMissingIsToldAtTheTableAbove(t *testing.T) {
	found := indexLines(everyForm)
	for path, want := range map[string]int{
		"list[0].inner[1].missing": 36, "list[1].missing.deeper": 40, "numbers[7]": 14,
		"missing": 1, `inline."odd.missing"`: 20,
	} {
		if got := found.of(path); got != want {
			t.Errorf("%s is on line %d, want %d", path, got, want)
		}
	}
}

// FuzzPositions checks that whatever the library decodes, the index knows.
func FuzzPositions(f *testing.F) {
	f.Add(everyForm)
	f.Add("a = { # comment\n b = 1,\n }\n[c]\n\"\" = 1")
	f.Add("a = \"\"\"\\\"\"\"\"\"\nb.'' = '''''''\n")
	f.Fuzz(func(t *testing.T, text string) {
		requireIndexed(t, text, indexLines(text))
	})
}

func requireIndexed(t *testing.T, text string, found *lines) {
	t.Helper()
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		return
	}
	last := strings.Count(text, "\n") + 1
	eachPath("", values, func(path string) {
		if line := found.at[path]; line < 1 || line > last {
			t.Errorf("%s is on line %d of %d in:\n%s", path, line, last, text)
		}
	})
}

// eachPath visits the path of everything in a decoded table.
func eachPath(path string, x any, visit func(string)) {
	if path != "" {
		visit(path)
	}
	switch v := x.(type) {
	case map[string]any:
		for key, below := range v {
			eachPath(options.JoinKey(path, options.Quote(key)), below, visit)
		}
	case []map[string]any:
		for i := range v {
			eachPath(fmt.Sprintf("%s[%d]", path, i), v[i], visit)
		}
	case []any:
		for i := range v {
			eachPath(fmt.Sprintf("%s[%d]", path, i), v[i], visit)
		}
	}
}
