package sources_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hpad/hpad/algorithm"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/targets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// series makes a series of noon; labels alternate name and value.
func series(value float64, labels ...string) sources.Series {
	s := sources.Series{Value: value, Time: noon, Labels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	return s
}

func aged(s sources.Series, age time.Duration) sources.Series {
	s.Time = noon.Add(-age)
	return s
}

func TestQuantityIsRoundedUpToThousandths(t *testing.T) {
	tests := []struct {
		value float64
		want  algorithm.Quantity
	}{
		{0, 0}, {1, 1000}, {0.0001, 1}, {1e-300, 1}, {0.07, 70}, {0.57, 570}, {1.001, 1001}, {1.0011, 1002},
		{-1.5, -1500}, {-0.0001, 0}, {-1.0019, -1001}, {4503599627370.497, 4503599627370497}, {9e15, 9e18},
	}
	for _, test := range tests {
		if got, err := sources.QuantityOf(test.value); got != test.want || err != nil {
			t.Errorf("QuantityOf(%v) = %v, %v, want %v", test.value, got, err, test.want)
		}
	}
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e16, -1e16, math.MaxFloat64} {
		if got, err := sources.QuantityOf(value); got != 0 || sources.KindOf(err) != sources.Invalid || err == nil {
			t.Errorf("QuantityOf(%v) = %v, %v, want an invalid value", value, got, err)
		}
	}
}

func TestExternalTakesSelectedSeriesInOrder(t *testing.T) {
	result := sources.NewResult([]sources.Series{
		series(3, "q", "web", "z", "2"), series(9, "q", "mail"), series(1, "q", "web", "z", "1"),
	}, nil)
	got, err := sources.External(result, map[string]string{"q": "web"}, time.Minute, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]algorithm.Quantity{3000, 1000}, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestUnusableAnswersAreErrorsThatSayWhy(t *testing.T) {
	one := series(1, "q", "web")
	tests := []struct {
		name   string
		series []sources.Series
		sel    map[string]string
		kind   sources.Kind
		want   string
	}{
		{"nothing", nil, nil, sources.NoData, "gave no series"},
		{"nothing selected", []sources.Series{one}, map[string]string{"q": "x"}, sources.NoData, `gave 1 series, none with {q="x"}, as for example {q="web"}`},
		{"NaN", []sources.Series{series(math.NaN(), "q", "web")}, nil, sources.Invalid, `{q="web"} whose value is NaN`},
		{"infinite", []sources.Series{series(math.Inf(-1))}, nil, sources.Invalid, "is infinite"},
		{"old", []sources.Series{aged(one, 61*second)}, nil, sources.Stale, "1m1s old, max_age is 1m0s"},
		{"future", []sources.Series{aged(one, -11*second)}, nil, sources.Stale, "11s in the future"},
		{"no time", []sources.Series{{Value: 1}}, nil, sources.Stale, "unknown time"},
	}
	for _, test := range tests {
		result := sources.NewResult(test.series, nil).Of(sources.Query{Text: "sum(x)"})
		for name, read := range map[string]func(*sources.Result, map[string]string, time.Duration, time.Time) ([]algorithm.Quantity, error){
			"External": sources.External, "Object": sources.Object,
		} {
			got, err := read(result, test.sel, time.Minute, noon)
			if err == nil || got != nil {
				t.Errorf("%s of %s is %v, want an error", name, test.name, got)
				continue
			}
			if sources.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `"sum(x)"`) {
				t.Errorf("%s of %s: error is %s: %v\nwant %s with %q", name, test.name, sources.KindOf(err), err, test.kind, test.want)
			}
		}
	}
}

func TestAgesUpToTheLimitsAreTaken(t *testing.T) {
	for _, age := range []time.Duration{time.Minute, 0, -10 * second} {
		if _, err := sources.External(sources.NewResult([]sources.Series{aged(series(1), age)}, nil), nil, time.Minute, noon); err != nil {
			t.Errorf("an age of %s is refused: %v", age, err)
		}
	}
	if _, err := sources.External(sources.NewResult([]sources.Series{aged(series(1), 1000*time.Hour)}, nil), nil, 0, noon); err != nil {
		t.Errorf("an age is refused without a max_age: %v", err)
	}
}

func TestObjectRefusesSeveralSeriesByName(t *testing.T) {
	result := sources.NewResult([]sources.Series{series(1, "i", "a"), series(2, "i", "b"), series(3, "i", "c"), series(4, "i", "d")}, nil)
	_, err := sources.Object(result, nil, time.Minute, noon)
	want := `the query gave 4 series, must give one: {i="a"} {i="b"} {i="c"} …; aggregate them in the query, or pick one with select`
	if sources.KindOf(err) != sources.TooMany || err == nil || err.Error() != want {
		t.Errorf("error is %v\nwant %s", err, want)
	}
	got, err := sources.Object(result, map[string]string{"i": "c"}, time.Minute, noon)
	if diff := cmp.Diff([]algorithm.Quantity{3000}, got); diff != "" || err != nil {
		t.Errorf("values (-want +got), error %v:\n%s", err, diff)
	}
}

func instances(identifiers ...string) []targets.Instance {
	list := make([]targets.Instance, len(identifiers))
	for i, ids := range identifiers {
		list[i].Identifiers = strings.Fields(ids)
		list[i].ID = list[i].Identifiers[0]
	}
	return list
}

func TestSamplesFindTheirInstancesByAnyIdentifier(t *testing.T) {
	list := instances("id1 web-1 10.0.0.1 10.0.0.1:80", "id2 web-2 fd00::2", "id3 web-3", "id4")
	result := sources.NewResult([]sources.Series{
		series(1, "instance", "10.0.0.1:9100"), series(2, "instance", "[fd00::2]:9100"),
		series(3, "instance", "web-3"), series(5, "instance", "elsewhere:80"),
	}, nil)
	samples, unlisted, err := sources.PerInstance(result, nil, "instance", list, time.Minute, noon)
	if err != nil {
		t.Fatal(err)
	}
	sample := func(v algorithm.Quantity) algorithm.Sample {
		return algorithm.Sample{Present: true, Value: v, Time: noon}
	}
	if diff := cmp.Diff([]algorithm.Sample{sample(1000), sample(2000), sample(3000), {}}, samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]algorithm.Sample{sample(5000)}, unlisted); diff != "" {
		t.Errorf("unlisted (-want +got):\n%s", diff)
	}
}

func TestOldSampleOfOneInstanceCountsAsNone(t *testing.T) {
	old := aged(series(1, "i", "a"), 2*time.Minute)
	samples, _, err := sources.PerInstance(sources.NewResult([]sources.Series{old, series(2, "i", "b")}, nil), nil, "i", instances("a", "b"), time.Minute, noon)
	if err != nil || samples[0].Present || !samples[1].Present {
		t.Errorf("samples are %v, %v, want that of b alone", samples, err)
	}
	_, _, err = sources.PerInstance(sources.NewResult([]sources.Series{old}, nil), nil, "i", instances("a", "b"), time.Minute, noon)
	if sources.KindOf(err) != sources.Stale || err == nil {
		t.Errorf("error is %v, want stale samples", err)
	}
}

func TestSeriesThatCannotBeToldApartAreErrors(t *testing.T) {
	list := instances("id1 host:80 host", "id2 host:81 host")
	tests := []struct {
		name   string
		series []sources.Series
		kind   sources.Kind
		want   string
	}{
		{"no label", []sources.Series{series(1, "job", "x")}, sources.Invalid, `without the label "i"`},
		{"host of two", []sources.Series{series(1, "i", "host")}, sources.Invalid, "several instances"},
		{"port of neither", []sources.Series{series(1, "i", "host:9100")}, sources.Invalid, "several instances"},
		{"two of one", []sources.Series{series(1, "i", "id1", "d", "a"), series(1, "i", "host:80")}, sources.TooMany, `instance "id1", {d="a", i="id1"} and {i="host:80"}`},
		{"two of one, one old", []sources.Series{aged(series(1, "i", "id1"), time.Hour), series(1, "i", "host:80")}, sources.TooMany, "two series"},
		{"NaN", []sources.Series{series(1, "i", "id1"), series(math.NaN(), "i", "id2")}, sources.Invalid, "NaN"},
		{"future", []sources.Series{series(1, "i", "id1"), aged(series(1, "i", "id2"), -time.Minute)}, sources.Stale, "future"},
		{"nothing", nil, sources.NoData, "no series"},
	}
	for _, test := range tests {
		_, _, err := sources.PerInstance(sources.NewResult(test.series, nil), nil, "i", list, time.Minute, noon)
		if err == nil || sources.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want %s with %q", test.name, err, test.kind, test.want)
		}
	}
	if _, _, err := sources.PerInstance(sources.NewResult([]sources.Series{series(1, "i", "host:81")}, nil), nil, "i", list, time.Minute, noon); err != nil {
		t.Errorf("an address with the port of one instance is refused: %v", err)
	}
}

func TestSelectByAbsentLabelIsSelectByEmptyValue(t *testing.T) {
	result := sources.NewResult([]sources.Series{series(1, "a", "x"), series(2, "a", "x", "b", "y"), series(3)}, nil)
	for _, test := range []struct {
		sel  map[string]string
		want string
	}{
		{nil, "[1 2 3]"},
		{map[string]string{"a": "x"}, "[1 2]"},
		{map[string]string{"a": "x", "b": ""}, "[1]"},
		{map[string]string{"b": "y", "a": "x"}, "[2]"},
		{map[string]string{"a": ""}, "[3]"},
		{map[string]string{"a": "z"}, "[]"},
	} {
		values := []float64{}
		for _, s := range result.Select(test.sel) {
			values = append(values, s.Value)
		}
		if got := fmt.Sprint(values); got != test.want {
			t.Errorf("Select(%v) = %s, want %s", test.sel, got, test.want)
		}
	}
}

func BenchmarkSelectOfManyWorkloads(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		list := make([]sources.Series, n)
		for i := range list {
			list[i] = series(float64(i), "queue", fmt.Sprint("queue-", i), "vhost", "main")
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				result := sources.NewResult(list, nil)
				for i := range list {
					values, err := sources.External(result, map[string]string{"queue": list[i].Labels["queue"]}, time.Minute, noon)
					if err != nil || values[0] != algorithm.Quantity(i*1000) {
						b.Fatal(values, err)
					}
				}
			}
		})
	}
}

func BenchmarkPerInstance(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		list := make([]targets.Instance, n)
		all := make([]sources.Series, n)
		for i := range list {
			address := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
			list[i].ID = fmt.Sprint("id", i)
			list[i].Identifiers = []string{list[i].ID, address, address + ":80"}
			all[i] = series(1, "instance", address+":9100")
		}
		result := sources.NewResult(all, nil)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, unlisted, err := sources.PerInstance(result, nil, "instance", list, time.Minute, noon); err != nil || unlisted != nil {
					b.Fatal(unlisted, err)
				}
			}
		})
	}
}
