package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"

	"github.com/hpad/hpad/sources"
)

// canned is an api.Client that always has the same answer, and checks it as apiClient does.
type canned struct {
	apiClient
	code int
	body []byte
}

func (c canned) Do(_ context.Context, r *http.Request) (*http.Response, []byte, error) {
	resp := &http.Response{StatusCode: c.code, Request: r}
	return resp, c.body, checkAnswer(c.client, c.code, c.body)
}

// FuzzAnswerIsNeverMadeUp checks that a zero is in the answer only if the server wrote one.
func FuzzAnswerIsNeverMadeUp(f *testing.F) {
	for _, result := range []string{
		`[]`, `null`, `[{}]`, `[{"metric":{}}]`, `[{"metric":{},"value":[1]}]`, `[{"metric":{"a":"b"},"value":[1.5,"0"]}]`,
		`[{"metric":{},"value":[1,"NaN"]}]`, `[{"metric":{},"value":[1,""]}]`, `[{"metric":{},"value":[1,"1"],"VALUE":[1]}]`,
		`[{"metric":{},"value":[1,"2"],"histogram":null}]`, `[{"metric":{},"histogram":[1,{}]}]`, `[{"metric":{},"histogram":null}]`, `[{"metric":{},"histogram":[1]}]`,
	} {
		f.Add(200, []byte(`{"status":"success","data":{"resultType":"vector","result":`+result+`}}`))
	}
	f.Add(200, []byte(`{"status":"success","data":{"resultType":"scalar","result":[1,"0x0p0"]}}`))
	f.Add(400, []byte(`{"status":"error","errorType":"bad_data","error":"x"}`))
	f.Add(200, []byte(`{"status":"success","data":{"resultType":"vector","result":[]},"data":{"resultType":"scalar"}}`))
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		if code < 200 || code > 599 {
			return
		}
		s := openURL(t, "http://localhost")
		s.api = v1.NewAPI(canned{apiClient{s.client}, code, body})
		result, err := s.Query(t.Context(), sources.Query{Text: "x"}, noon)
		if err != nil {
			return
		}
		for _, series := range result.Series() {
			if series.Value == 0 && !zeroIsWritten(body) {
				t.Errorf("a zero is made up of %q", body)
			}
		}
		if len(result.Series()) > 0 && !json.Valid(body) {
			t.Errorf("series are made up of %q", body)
		}
	})
}

// zeroIsWritten tells whether a number of body can be zero: a zero digit, or one too small to hold.
func zeroIsWritten(body []byte) bool {
	return bytes.ContainsAny(body, "0") || strings.Contains(strings.ToLower(string(body)), "e-")
}
