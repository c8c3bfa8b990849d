package prometheus

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func serveFunc(t testing.TB, handler http.HandlerFunc) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestWhatIsNoAnswerIsAnErrorOfTheRightKind(t *testing.T) {
	vector := func(result string) string {
		return `{"status":"success","data":{"resultType":"vector","result":` + result + `}}`
	}
	tests := []struct {
		name string
		code int
		body string
		kind sources.Kind
		text string
	}{
		{"a sample without value", 200, vector(`[{"metric":{}}]`), sources.Garbled, "a time and a value"},
		{"a sample with a time only", 200, vector(`[{"metric":{},"value":[1]}]`), sources.Garbled, "a time and a value"},
		{"a value that is null", 200, vector(`[{"metric":{},"value":[1,null]}]`), sources.Garbled, "not null"},
		{"a sample of three", 200, vector(`[{"metric":{},"value":[1,2,"3"]}]`), sources.Garbled, "a time and a value"},
		{"a value and one more", 200, vector(`[{"metric":{},"value":[1,"2","3"]}]`), sources.Garbled, "a time and a value"},
		{"no time", 200, vector(`[{"metric":{},"value":[null,"3"]}]`), sources.Garbled, "not null"},
		{"a value without quotes", 200, vector(`[{"metric":{},"value":[1,2]}]`), sources.Garbled, "quoted"},
		{"a value that is a word", 200, vector(`[{"metric":{},"value":[1,"many"]}]`), sources.Garbled, "many"},
		{"a value that is empty", 200, vector(`[{"metric":{},"value":[1,""]}]`), sources.Garbled, "syntax"},
		{"a series without labels", 200, vector(`[{"value":[1,"2"]}]`), sources.Garbled, "no labels"},
		{"a histogram that is null", 200, vector(`[{"metric":{},"histogram":null}]`), sources.Garbled, "a time and a value"},
		{"a histogram with a time only", 200, vector(`[{"metric":{},"histogram":[1]}]`), sources.Garbled, "a time and a value"},
		{"a result that is null", 200, vector(`null`), sources.Garbled, "no vector"},
		{"no data", 200, `{"status":"success"}`, sources.Garbled, "without data"},
		{"no status", 200, `{}`, sources.Garbled, `status is ""`},
		{"nothing", 200, ``, sources.Garbled, "not JSON"},
		{"a number", 200, `0`, sources.Garbled, "not JSON"},
		{"half an answer", 200, vector(`[{"metric":{},"value":[1,"2"]}]`)[:60], sources.Garbled, "cut off"},
		{"a type nobody knows", 200, `{"status":"success","data":{"resultType":"heap","result":[]}}`, sources.Garbled, "heap"},
		{"a scalar without value", 200, `{"status":"success","data":{"resultType":"scalar","result":[1]}}`, sources.Garbled, "a time and a value"},
		{"a range vector", 200, `{"status":"success","data":{"resultType":"matrix","result":[]}}`, sources.Invalid, "rate()"},
		{"a string", 200, `{"status":"success","data":{"resultType":"string","result":[1,"x"]}}`, sources.Invalid, "a string"},
		{"a histogram", 200, vector(`[{"metric":{"a":"b"},"histogram":[1,{"count":"1","sum":"2","buckets":[]}]}]`), sources.Invalid, "histogram_quantile"},
		{"success that is an error", 200, `{"status":"error","errorType":"execution","error":"boom"}`, sources.BadQuery, "boom"},
		{"a bad query", 400, `{"status":"error","errorType":"bad_data","error":"1:4: parse error: oh"}`, sources.BadQuery, "1:4: parse error: oh"},
		{"a query that cannot run", 422, `{"status":"error","errorType":"execution","error":"many-to-many matching"}`, sources.BadQuery, "many-to-many"},
		{"a 400 of somebody else", 400, `The plain HTTP request was sent to HTTPS port`, sources.Garbled, "400 Bad Request"},
		{"a timeout of the server", 503, `{"status":"error","errorType":"timeout","error":"query timed out"}`, sources.Unavailable, "query timed out"},
		{"a proxy without server", 502, `<html>`, sources.Unavailable, "502 Bad Gateway"},
		{"too many requests", 429, ``, sources.Unavailable, "429"},
		{"no access", 403, `no`, sources.Denied, "403 Forbidden"},
		{"a long refusal", 400, `{"status":"error","errorType":"bad_data","error":"` + strings.Repeat("x", 1<<16) + `"}`, sources.BadQuery, "xxx"},
		{"a long complaint", 500, `{"status":"error","errorType":"internal","error":"` + strings.Repeat("x", 1<<16) + `"}`, sources.Unavailable, "xxx"},
		{"a long word", 200, vector(`[{"metric":{},"value":[1,"` + strings.Repeat("x", 1<<16) + `"]}]`), sources.Garbled, "xxx"},
		{"another place", 404, `404 page not found`, sources.Garbled, "path prefix"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openURL(t, serve(t, test.code, test.body))
			result, err := s.Query(t.Context(), sources.Query{Text: "up"}, noon)
			if err == nil {
				t.Fatalf("no error, but %v", result.Series())
			}
			if sources.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error is %s: %v\nwant %s with %q", sources.KindOf(err), err, test.kind, test.text)
			}
			if len(err.Error()) > 2*sources.LongestRemark {
				t.Errorf("error has %d bytes", len(err.Error()))
			}
			if !strings.Contains(err.Error(), `"up"`) {
				t.Errorf("error does not name the query: %v", err)
			}
		})
	}
}

func TestScalarIsOneSeriesWithoutLabels(t *testing.T) {
	s := openURL(t, serve(t, 200, `{"status":"success","data":{"resultType":"scalar","result":[1767355200.5,"2.5"]}}`))
	result, err := s.Query(t.Context(), sources.Query{Text: "scalar(x)"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := []sources.Series{{Value: 2.5, Time: time.UnixMilli(1767355200500)}}
	if diff := cmp.Diff(want, result.Series()); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestWarningsAreGivenOn(t *testing.T) {
	s := openURL(t, serve(t, 200, `{"status":"success","data":{"resultType":"vector","result":[]},"warnings":["a store is down"]}`))
	result, err := s.Query(t.Context(), sources.Query{Text: "x"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a store is down"}, result.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestQueryIsSentAsItIsAndAgainByGETWherePOSTIsForbidden(t *testing.T) {
	const query = "sum by (queue) (\n  x{a=\"ü+%&\"} # all\n)"
	for _, refusal := range []int{403, 405, 501} {
		var asked []string
		s := openURL(t, serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.FormValue("query") == query, " ", r.FormValue("time")))
			if r.Method == http.MethodPost {
				w.WriteHeader(refusal)
				return
			}
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
		})+"/prefix/")
		if _, err := s.Query(t.Context(), sources.Query{Text: query}, noon.Add(1234567*time.Nanosecond)); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"POST /prefix/api/v1/query true 1767355200.001",
			"GET /prefix/api/v1/query true 1767355200.001",
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("requests after %d (-want +got):\n%s", refusal, diff)
		}
	}
}

func TestSamplesGetTheirOwnTimesWithoutRegardToTheName(t *testing.T) {
	s := openURL(t, serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		result := `[{"metric":{"__name__":"x","i":"a"},"value":[1767355200,"7"]},{"metric":{"__name__":"x","i":"b"},"value":[1767355200,"8"]}]`
		if r.FormValue("query") == "timestamp(x\n)" {
			result = `[{"metric":{"i":"a"},"value":[1767355200,"1767355190.25"]}]`
		}
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":` + result + `}}`))
	}))
	result, err := s.Query(t.Context(), sources.Query{Text: "x", CheckTimestamp: true}, noon)
	if err != nil {
		t.Fatal(err)
	}
	a, b := result.Series()[0], result.Series()[1]
	if a.Value != 7 || !a.Time.Equal(noon.Add(-9750*time.Millisecond)) {
		t.Errorf("series a is %v, want 7 of 9.75s before noon", a)
	}
	if b.Value != 8 || !b.Time.IsZero() {
		t.Errorf("series b is %v, want 8 of an unknown time", b)
	}
}

func TestTimeoutIsTheSourcesOwnAndNamed(t *testing.T) {
	s := openTable(t, options.NewTable("/", map[string]any{
		"timeout": "20ms",
		"url": serveFunc(t, func(_ http.ResponseWriter, r *http.Request) {
			// Only a request that is read to its end ends with its connection.
			_ = r.ParseForm()
			<-r.Context().Done()
		}),
	}))
	_, err := s.Query(context.Background(), sources.Query{Text: "x"}, noon)
	if sources.KindOf(err) != sources.Unavailable || !strings.Contains(err.Error(), "timeout is 20ms") {
		t.Errorf("error is %v, want an unavailable source with its timeout", err)
	}
}

func TestQueryIsCheckedOffline(t *testing.T) {
	tests := []struct {
		query string
		times bool
		want  string
	}{
		{`up`, false, ""},
		{`sum by (queue) (rate(x[5m]))`, false, ""},
		{`scalar(x)`, false, ""},
		{`limitk(1, x)`, false, ""},
		{`((up{job="web"} offset 1m))`, true, ""},
		{``, false, "is empty"},
		{`sum(x`, false, "1:6: unclosed left parenthesis"},
		{`rate(x)`, false, "expected type range vector"},
		{`x[5m]`, false, "is a range vector"},
		{`"x"`, false, "is a string"},
		{`sum(up)`, true, "plain selector"},
		{`1`, true, "plain selector"},
	}
	s := openURL(t, "http://localhost")
	for _, test := range tests {
		err := s.CheckQuery(sources.Query{Text: test.query, CheckTimestamp: test.times})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%q: %v", test.query, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%q: error is %v, want one with %q", test.query, err, test.want)
		case err != nil && sources.KindOf(err) != sources.BadQuery:
			t.Errorf("%q: kind is %s", test.query, sources.KindOf(err))
		}
	}
}

func BenchmarkQueryOfManySeries(b *testing.B) {
	var body strings.Builder
	body.WriteString(`{"status":"success","data":{"resultType":"vector","result":[`)
	for i := range 10_000 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"metric":{"queue":"queue-%d","vhost":"main"},"value":[1767355200,"%d"]}`, i, i)
	}
	body.WriteString(`]}}`)
	s := openURL(b, serve(b, 200, body.String()))
	b.ReportAllocs()
	for b.Loop() {
		result, err := s.Query(b.Context(), sources.Query{Text: "x"}, noon)
		if err != nil || len(result.Series()) != 10_000 {
			b.Fatal(err)
		}
	}
}

func BenchmarkRoundOfShortAnswers(b *testing.B) {
	s := openURL(b, serve(b, 200, `{"status":"success","data":{"resultType":"vector","result":[`+
		`{"metric":{"queue":"mail"},"value":[1767355200,"20"]}]}}`))
	shared := sources.NewShared(s, 10*time.Second, 0)
	at := noon
	b.ReportAllocs()
	for b.Loop() {
		at = at.Add(time.Second)
		var all sync.WaitGroup
		for i := range 33 {
			all.Go(func() {
				if _, err := shared.Query(b.Context(), sources.Query{Text: fmt.Sprint("x", i)}, at); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
}
