package options

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Value int8 `toml:"value"`
}

type embedded struct {
	Embedded string `toml:"embedded"`
}

type everything struct {
	embedded
	Text     string            `toml:"text"`
	Yes      bool              `toml:"yes"`
	Whole    int32             `toml:"whole"`
	Unsigned uint8             `toml:"unsigned"`
	Wide     uint64            `toml:"wide"`
	Float    float64           `toml:"float"`
	Length   time.Duration     `toml:"length"`
	Pointer  *int64            `toml:"pointer"`
	Words    []string          `toml:"words"`
	Labels   map[string]string `toml:"labels"`
	Inner    inner             `toml:"inner"`
	Inners   []inner           `toml:"inners"`
	ByName   map[string]inner  `toml:"by_name"`
	Any      map[string]any    `toml:"any"`
	File     Path              `toml:"file"`
	Ignored  string            `toml:"-"`
	Untagged string
}

func TestDecodeReadsOnTopOfDefaults(t *testing.T) {
	got := everything{Text: "default", Yes: true, Whole: 7, Labels: map[string]string{"kept": "no"}}
	err := Decode("/etc/hpad", map[string]any{
		"embedded": "e",
		"whole":    int64(5),
		"unsigned": 255.0, // as JSON has it
		"wide":     int64(math.MaxInt64),
		"float":    int64(2),
		"length":   "1m30s",
		"pointer":  int64(3),
		"words":    []any{"a", "b"},
		"labels":   map[string]any{"a.b": "c"},
		"inner":    map[string]any{"value": int64(-128)},
		"inners":   []map[string]any{{"value": int64(1)}, {}},
		"by_name":  map[string]any{"x": map[string]any{"value": int64(2)}},
		"any":      map[string]any{"deep": []any{int64(1), 0.5}},
		"file":     "a/b",
		"text":     nil,
	}, &got)
	if err != nil {
		t.Fatal(err)
	}
	three := int64(3)
	want := everything{
		embedded: embedded{Embedded: "e"}, Text: "default", Yes: true, Whole: 5, Unsigned: 255,
		Wide: math.MaxInt64, Float: 2, Length: 90 * time.Second, Pointer: &three,
		Words: []string{"a", "b"}, Labels: map[string]string{"a.b": "c"}, Inner: inner{-128},
		Inners: []inner{{1}, {0}}, ByName: map[string]inner{"x": {2}},
		Any: map[string]any{"deep": []any{int64(1), 0.5}}, File: "/etc/hpad/a/b",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(everything{})); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestDecodeTellsEveryMistake(t *testing.T) {
	var got everything
	err := Decode("", map[string]any{
		"text":     int64(15),
		"yes":      "yes",
		"whole":    1.5,
		"unsigned": int64(256),
		"wide":     int64(-1),
		"float":    math.Inf(-1),
		"length":   int64(15),
		"pointer":  "3",
		"words":    []any{"a", int64(1)},
		"labels":   map[string]any{"a.b": true},
		"inner":    map[string]any{"value": int64(128), "vlaue": int64(1)},
		"inners":   map[string]any{},
		"by_name":  []any{},
		"any":      map[string]any{"deep": []any{int64(1), math.NaN()}},
		"file":     false,
		"Ignored":  "x",
		"Untagged": "x",
		"texd":     "x",
	}, &got)
	want := []string{
		`Ignored: unknown key "Ignored"`,
		`Untagged: unknown key "Untagged"`,
		`any.deep[1]: must be a finite number`,
		`by_name: must be a table, is an array`,
		`file: must be the path of a file, is false`,
		`float: must be a finite number, is -inf`,
		`inner.value: must be <= 127, is 128`,
		`inner.vlaue: unknown key "vlaue", did you mean "value"?`,
		`inners: must be an array of tables, is a table: write its header as [[…]], or itself as [{ … }]`,
		`labels."a.b": must be a string, is true`,
		`length: must be a duration such as "15s", is 15`,
		`pointer: must be a whole number, is "3"`,
		`texd: unknown key "texd", did you mean "text"?`,
		`text: must be a string, is 15`,
		`unsigned: must be <= 255, is 256`,
		`whole: must be a whole number, is 1.5`,
		`wide: must be >= 0, is -1`,
		`words[1]: must be a string, is 1`,
		`yes: must be true or false, is "yes"`,
	}
	var messages []string
	for _, e := range Split(err) {
		messages = append(messages, e.Error())
	}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

func TestAnUnknownKeySaysWhichWasMeant(t *testing.T) {
	err := Decode("", map[string]any{"inner": map[string]any{"Value": int64(1)}}, &everything{})
	if name, meant := Unknown(Split(err)[0]); name != "Value" || meant != "inner.value" {
		t.Errorf("unknown is %q, meant is %q", name, meant)
	}
}

func TestANewTableDecodesLikeAFile(t *testing.T) {
	var got struct {
		File Path `toml:"file"`
	}
	table := NewTable("/etc", map[string]any{"file": "a"})
	if err := table.Decode(&got); err != nil || got.File != "/etc/a" || table.Dir() != "/etc" {
		t.Errorf("got %q, %v in %q", got.File, err, table.Dir())
	}
}

func TestClosestFindsWhatWasMeant(t *testing.T) {
	known := []string{"average_utilization", "average_value", "max_age", "min_replicas", "name", "query"}
	for word, want := range map[string]string{
		"average_vlaue": "average_value", "averageValue": "average_value", "minReplicas": "min_replicas",
		"quer": "query", "nmae": "name", "max-age": "max_age", "n": "", "": "", "replicas": "",
		"service": "", "cpu": "", "querySeconds": "query", "nameserver": "name",
	} {
		if got := Closest(word, known); got != want {
			t.Errorf("%q means %q, want %q", word, got, want)
		}
	}
}
