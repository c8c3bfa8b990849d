package jsondoc

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hpad/hpad/sources"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// shown is a series as the README shows it.
func shown(s *sources.Series) string {
	labels := []string{}
	for _, name := range []string{"instance", "n", "pool", "queue"} {
		if value, ok := s.Labels[name]; ok {
			labels = append(labels, fmt.Sprintf("%s=%q", name, value))
		}
	}
	text := fmt.Sprintf("`{%s} %v`", strings.Join(labels, ", "), s.Value)
	if old := noon.Sub(s.Time); old != 0 {
		text += fmt.Sprintf(", %v s old", old.Seconds())
	}
	return text
}

// TestREADMEExamplesGiveWhatTheyShow asks every query of the table about the document above it.
func TestREADMEExamplesGiveWhatTheyShow(t *testing.T) {
	content, err := os.ReadFile("../../http/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(content), "```json\n")
	text, rest, _ := strings.Cut(after, "```")
	document, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(rest) {
		query, want, found := strings.Cut(strings.TrimSuffix(line, " |\n"), "` | `")
		if query, found = strings.CutPrefix(query, "| `"); !found || !strings.HasPrefix(query, ".") {
			continue
		}
		rows++
		path, err := Parse(query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		series, err := path.Series(document, noon)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		var got []string
		for i := range series {
			got = append(got, shown(&series[i]))
		}
		if all := strings.Join(got, ", "); strings.TrimSuffix(all, " at noon") != strings.TrimSuffix("`"+want, " at noon") {
			t.Errorf("%s gives %s, the README says `%s", query, all, want)
		}
	}
	if rows < 10 {
		t.Errorf("found %d rows, want 10 at least", rows)
	}
}

func TestWhatIsNoPathIsToldWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"": "is empty", "  ": "is empty", "a": "at position 1", ".a b": "at position 3", "..": "at position 2", ".a.": "ends where a name",
		".a[": "ends where *, a number", ".a[x]": `has "x]" at position 4`, ".a[1": "a number", ".a[99999999999]": "a number",
		`.a["b]`: "a number", `.a["b"`: "a closing bracket", ".a[*": "a number",
		".a{": "the name of a label", ".a{}": "the name of a label", ".a{b}": "an equals sign", ".a{b=}": "a full stop", ".a{b=.c": "a comma or a closing brace",
		".a{1=.c}": "the name of a label", ".a{b-c=.c}": "the name of a label", ".a{b=@key}": "without a [*]", ".a[*]{b=.c[*]}": "within braces",
		".a[*]{b=.c,b=.d}": `the label "b" twice`, ".a{@when=.c}": "the name of a label", ".a{b=.c{d=.e}}": "a step",
		".a | length": "at position 3", "$.a": "at position 1", ".a[?(@.b)]": "a number", "sum(.a)": "at position 1",
	} {
		path, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: path %+v, error %v, want %q", text, path, err, want)
		}
	}
}

func TestWhatIsNotThereIsAnErrorAndNoZero(t *testing.T) {
	const text = `{"a":{"b":1},"l":[{"v":1,"n":"x"},{"n":"y"}],"e":[],"o":{},"s":"five","z":null,"t":true,"big":"1e999","hex":"0x10"}`
	document, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		query string
		kind  sources.Kind
		want  string
	}{
		{".c", sources.NoData, `finds no "c" at .`},
		{".a.c", sources.NoData, `finds no "c" at .["a"]`},
		{".l[2].v", sources.NoData, `finds no element 2 at .["l"], which has 2`},
		{".l[-3].v", sources.NoData, `finds no element -3`},
		{".l[*].v", sources.Invalid, `finds no "v" at .["l"][1], which others may have`},
		{".l[1]{v=.v}.n", sources.Invalid, `for v`},
		{".a", sources.Invalid, "finds an object at"},
		{".l", sources.Invalid, "finds an array at"},
		{".s", sources.Invalid, `finds "five" at`},
		{".z", sources.Invalid, "finds null at"},
		{".t", sources.Invalid, "finds true at"},
		{".hex", sources.Invalid, `finds "0x10"`},
		{".s.x", sources.Invalid, `must find an object with "x"`},
		{".a[0]", sources.Invalid, "must find an array"},
		{".s[*]", sources.Invalid, "must find an array or an object"},
		{".{@time=.s}.a.b", sources.Invalid, "must find a time"},
		{".{@time=.z}.a.b", sources.Invalid, "must find a time"},
		{".{x=.a}.a.b", sources.Invalid, "a text or a number for x"},
		{".{x=.c}.a.b", sources.Invalid, "for x"},
	} {
		path, err := Parse(test.query)
		if err != nil {
			t.Fatal(err)
		}
		result, err := path.Result(document, noon)
		if err == nil || sources.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, error %v, want %q of %v", test.query, result, err, test.want, test.kind)
		}
	}
	for _, query := range []string{".e[*]", ".o[*]", ".big"} {
		path, _ := Parse(query)
		result, err := path.Result(document, noon)
		if err != nil {
			t.Fatal(err)
		}
		if values, err := sources.External(result, nil, 0, noon); err == nil {
			t.Errorf("%s gives %v, want an error", query, values)
		}
	}
}

func TestWhatIsNoDocumentIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"": "is empty", " \n": "is empty", `{"a":1`: "breaks off", "<html>": "is not JSON", `{"a":1} {}`: "more behind its end",
		"\xff": "not UTF-8", "NaN": "is not JSON", "{a:1}": "is not JSON", "1]": "more behind its end",
	} {
		if document, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, error %v, want %q", text, document, err, want)
		}
	}
}

func FuzzNothingIsMadeUp(f *testing.F) {
	for _, path := range []string{".", ".a", ".a[0]", ".a[*]{b=.c, @time=.d}.e[-1]", `.["x y"]`, ".[*]{k=@key}", ".{"} {
		f.Add(path, `{"a":[{"c":"x","d":5,"e":[1,"2"]}],"x y":3}`)
		f.Add(path, `[1,2,{"a":null}]`)
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		path, err := Parse(query)
		if err != nil {
			return
		}
		document, err := parse([]byte(text))
		if err != nil {
			return
		}
		series, err := path.Series(document, noon)
		if err != nil {
			return
		}
		if len(series) > len(text) {
			t.Errorf("%d series are made of %q", len(series), text)
		}
		for _, s := range series {
			if s.Value == 0 && !strings.ContainsAny(text, "0") {
				t.Errorf("%q makes a zero up of %q", query, text)
			}
			if s.Time.IsZero() {
				t.Errorf("%q gives a sample of %q no time", query, text)
			}
		}
	})
}
