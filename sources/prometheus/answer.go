package prometheus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/httpclient"
)

// envelope is what the API wraps every answer in, as far as it is looked at here. The values stay
// raw: whether there is one at all is the question.
type envelope struct {
	Status    string `json:"status"`
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
	Data      *struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// checkAnswer finds what the API package would not: statuses it has no kind for, and a sample
// without a value, which it would read as zero.
func checkAnswer(from *httpclient.Client, code int, body []byte) error {
	if code == http.StatusBadRequest || code == http.StatusUnprocessableEntity {
		return checkRefusal(from, code, body)
	}
	hint := "is the url that of a Prometheus server, with its path prefix?"
	if err := from.CheckStatus(code, remark(code, body), hint); err != nil {
		return err
	}
	err := checkSamples(body)
	var sorted *sources.Error
	if errors.As(err, &sorted) {
		return sorted
	}
	if err != nil {
		return sources.Errorf(sources.Garbled, "%s answers with what is no answer of a Prometheus: %w", from, err)
	}
	return nil
}

// checkRefusal lets the API package read a Prometheus's own refusal, and no other.
func checkRefusal(from *httpclient.Client, code int, body []byte) error {
	var e envelope
	if json.Unmarshal(body, &e) == nil && e.Status == "error" && e.ErrorType != "" {
		return nil
	}
	return sources.Errorf(sources.Garbled, "%s answers %s with what is no answer of a Prometheus", from, httpclient.Status(code))
}

// remark is the message of an error that is a Prometheus's own.
func remark(code int, body []byte) string {
	var e envelope
	if code == http.StatusOK || json.Unmarshal(body, &e) != nil {
		return ""
	}
	return e.Error
}

// checkSamples makes sure that every sample has a time and a value.
func checkSamples(body []byte) error {
	if isPlain(body) {
		return nil
	}
	return checkDecoded(body)
}

func checkDecoded(body []byte) error {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return errors.New("not JSON, or cut off")
	}
	switch {
	case e.Status == "error":
		return nil
	case e.Status != "success":
		return fmt.Errorf("status is %q, must be success or error", e.Status)
	case e.Data == nil:
		return errors.New("without data")
	}
	switch e.Data.ResultType {
	case "vector":
		return checkVector(e.Data.Result)
	case "scalar":
		return checkPair(e.Data.Result)
	case "string":
		return sources.Errorf(sources.Invalid, "the answer is a string, must be an instant vector or a scalar")
	}
	return nil
}

func checkVector(result json.RawMessage) error {
	var samples []struct {
		Metric    *json.RawMessage `json:"metric"`
		Value     json.RawMessage  `json:"value"`
		Histogram json.RawMessage  `json:"histogram"`
	}
	if err := json.Unmarshal(result, &samples); err != nil || samples == nil {
		return errors.New("the result is no vector")
	}
	for i := range samples {
		if samples[i].Metric == nil {
			return fmt.Errorf("series %d has no labels", i)
		}
		pair := samples[i].Value
		if samples[i].Histogram != nil {
			pair = samples[i].Histogram
		} else if plainPair(pair) {
			continue
		}
		if err := checkPair(pair); err != nil {
			return fmt.Errorf("series %d: %w", i, err)
		}
	}
	return nil
}

// plainPair tells of valid JSON whether it is a time and a value as every server writes them:
// [1700000000.5,"1"]. It spares the many samples of a long answer the slower checkPair.
func plainPair(raw json.RawMessage) bool {
	at, value, found := bytes.Cut(bytes.TrimSuffix(raw, []byte(`"]`)), []byte(`,"`))
	return found && len(at) > 1 && at[0] == '[' && at[1] >= '0' && at[1] <= '9' &&
		bytes.IndexByte(at, ',') < 0 && bytes.IndexByte(value, '"') < 0
}

// checkPair makes sure that raw is a time and a value. Whether they are numbers is checked by the
// API package.
func checkPair(raw json.RawMessage) error {
	var pair []json.RawMessage
	if raw == nil || json.Unmarshal(raw, &pair) != nil || len(pair) != 2 {
		return errors.New("a sample must be a time and a value")
	}
	for _, part := range pair {
		if string(part) == "null" {
			return errors.New("a sample must be a time and a value, not null")
		}
	}
	return nil
}

// seriesOf turns the value of an instant query into series.
func seriesOf(value model.Value) ([]sources.Series, error) {
	switch v := value.(type) {
	case *model.Scalar:
		return []sources.Series{{Value: float64(v.Value), Time: v.Timestamp.Time()}}, nil
	case model.Vector:
		return seriesOfVector(v)
	case model.Matrix:
		return nil, sources.Errorf(sources.Invalid, "with a range vector, must be an instant vector: "+
			"put a function such as rate() or avg_over_time() around it")
	}
	return nil, sources.Errorf(sources.Garbled, "with no value")
}

func seriesOfVector(vector model.Vector) ([]sources.Series, error) {
	series := make([]sources.Series, len(vector))
	for i, sample := range vector {
		if sample.Histogram != nil {
			return nil, sources.Errorf(sources.Invalid, "with the native histogram %s, must be numbers: "+
				"put a function such as histogram_quantile() or histogram_avg() around it", sample.Metric)
		}
		labels := make(map[string]string, len(sample.Metric))
		for name, value := range sample.Metric {
			labels[string(name)] = string(value)
		}
		series[i] = sources.Series{Labels: labels, Value: float64(sample.Value), Time: sample.Timestamp.Time()}
	}
	return series, nil
}

// withTimes returns series with the times that timestamp() gave for them. It drops the name of the
// metric, so that is left out of the comparison. A series it gave none for has the zero Time.
func withTimes(series, times []sources.Series) []sources.Series {
	byLabels := make(map[string]time.Time, len(times))
	for i := range times {
		byLabels[identity(times[i].Labels)] = timeOf(times[i].Value)
	}
	joined := slices.Clone(series)
	for i := range joined {
		joined[i].Time = byLabels[identity(joined[i].Labels)]
	}
	return joined
}

// timeOf converts what timestamp() gives, in seconds.
func timeOf(seconds float64) time.Time {
	if !(math.Abs(seconds) < math.MaxInt64/1e3) {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000)))
}

// identity is equal for equal labels, the name of the metric aside. 0xff is in no valid UTF-8.
func identity(labels map[string]string) string {
	names := make([]string, 0, len(labels))
	size := 0
	for name, value := range labels {
		if name != model.MetricNameLabel {
			names = append(names, name)
			size += len(name) + len(value) + 2
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.Grow(size)
	for _, name := range names {
		b.WriteString(name)
		b.WriteByte(0xff)
		b.WriteString(labels[name])
		b.WriteByte(0xff)
	}
	return b.String()
}
