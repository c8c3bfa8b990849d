package scrape

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"mime"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/hpad/hpad/sources"
)

// parsePage reads a page in the text format or OpenMetrics, whichever its type says. Samples
// without a time of their own get `at`.
//
// The comments that group samples into families are left out: a histogram is then a number of
// plain series, with the names and labels that stand on the page. What remains differs between
// the two formats in exemplars and the unit of times only, so one parser does for both.
func parsePage(body []byte, contentType string, at time.Time) ([]sources.Series, error) {
	open, err := isOpenMetrics(contentType)
	if err != nil {
		return nil, err
	}
	text, err := samplesOnly(body, open)
	if err != nil {
		return nil, err
	}
	textParser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := textParser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		message := strings.TrimPrefix(err.Error(), "text format parsing error in ")
		return nil, fmt.Errorf("cannot parse: %s", sources.Cut(message, sources.LongestRemark))
	}
	var series []sources.Series
	for _, name := range slices.Sorted(maps.Keys(families)) {
		for _, m := range families[name].Metric {
			series = append(series, seriesOf(name, m, at))
		}
	}
	return series, nil
}

func isOpenMetrics(contentType string) (bool, error) {
	if contentType == "" {
		return false, nil
	}
	kind, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && kind == "application/openmetrics-text":
		return true, nil
	case err == nil && kind == "text/plain":
		return false, nil
	}
	return false, fmt.Errorf("its type is %.80q, must be text/plain or application/openmetrics-text", contentType)
}

// samplesOnly returns the lines of samples, in the text format. Other lines become empty, so that
// the numbers of lines stay.
func samplesOnly(body []byte, open bool) ([]byte, error) {
	if open && !bytes.HasSuffix(bytes.TrimRight(body, "\n"), []byte("# EOF")) {
		return nil, errors.New("it does not end in # EOF, so it may be cut off")
	}
	text := make([]byte, 0, len(body))
	n := 0
	for line := range bytes.Lines(body) {
		n++
		trimmed := bytes.TrimLeft(line, " \t")
		switch {
		case len(trimmed) == 0 || trimmed[0] == '#':
			text = append(text, '\n')
		case open:
			plain, err := plainSample(string(bytes.TrimRight(trimmed, "\r\n")))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			text = append(append(text, plain...), '\n')
		default:
			text = append(text, line...)
		}
	}
	return text, nil
}

// plainSample turns a sample of OpenMetrics into one of the text format: without its exemplar, and
// with its time in milliseconds.
func plainSample(line string) (string, error) {
	line, labelsEnd := withoutExemplar(line)
	if labelsEnd == 0 {
		labelsEnd = max(strings.IndexByte(line, ' '), 0)
	}
	fields := strings.Fields(line[labelsEnd:])
	switch len(fields) {
	case 1:
		return line, nil
	case 2:
		seconds, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || math.Abs(seconds) > math.MaxInt64/1e6 {
			return "", errors.New("a time must be a number of seconds")
		}
		return fmt.Sprintf("%s %s %d", line[:labelsEnd], fields[0], int64(math.Round(seconds*1000))), nil
	}
	return "", errors.New("a sample must be a series, a value and perhaps a time")
}

// withoutExemplar returns the line up to its exemplar, and where its labels end; 0 if it has none.
func withoutExemplar(line string) (string, int) {
	quoted, labelsEnd := false, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '#':
			return strings.TrimRight(line[:i], " "), labelsEnd
		case c == '}':
			labelsEnd = i + 1
		}
	}
	return line, labelsEnd
}

func seriesOf(name string, m *dto.Metric, at time.Time) sources.Series {
	labels := make(map[string]string, len(m.Label)+1)
	labels[model.MetricNameLabel] = name
	for _, pair := range m.Label {
		labels[pair.GetName()] = pair.GetValue()
	}
	s := sources.Series{Labels: labels, Value: math.NaN(), Time: at}
	if m.Untyped != nil && m.Untyped.Value != nil {
		s.Value = *m.Untyped.Value
	}
	if m.TimestampMs != nil {
		s.Time = time.UnixMilli(*m.TimestampMs)
	}
	return s
}
