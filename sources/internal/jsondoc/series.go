package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
)

// parse reads a whole document. Numbers stay text.
func parse(text []byte) (any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("is empty")
	}
	if !utf8.Valid(text) {
		return nil, errors.New("is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("breaks off")
		}
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("is not JSON: there is more behind its end")
	}
	return document, nil
}

// walk is one way through a document.
type walk struct {
	at     time.Time
	labels map[string]string
	time   time.Time
	key    string // of the last [*]
	within bool   // a [*]
	series []sources.Series
}

// Series returns the series of a document, each with the time of the evaluation if it has none of
// its own. Errors are those of package sources; they continue "query %q".
func (p *Path) Series(document any, at time.Time) ([]sources.Series, error) {
	w := walk{at: at, labels: map[string]string{}, time: at}
	if err := w.follow(document, p.steps, "."); err != nil {
		return nil, err
	}
	return w.series, nil
}

func (w *walk) follow(value any, steps []step, where string) error {
	if len(steps) == 0 {
		return w.add(value, where)
	}
	switch s := steps[0]; s.kind {
	case toLabels:
		if err := w.name(value, s.labels, where); err != nil {
			return err
		}
		return w.follow(value, steps[1:], where)
	case toAll:
		return w.all(value, steps[1:], where)
	default:
		below, where, err := w.one(value, s, where)
		if err != nil {
			return err
		}
		return w.follow(below, steps[1:], where)
	}
}

// one goes one step down.
func (w *walk) one(value any, s step, where string) (any, string, error) {
	if s.kind == toMember {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, where, sources.Errorf(sources.Invalid, "finds %s at %s, must find an object with %q", kind(value), where, s.member)
		}
		below, ok := object[s.member]
		if !ok {
			return nil, where, w.missing("finds no %q at %s", s.member, where)
		}
		return below, joined(where, "["+strconv.Quote(s.member)+"]"), nil
	}
	array, ok := value.([]any)
	if !ok {
		return nil, where, sources.Errorf(sources.Invalid, "finds %s at %s, must find an array", kind(value), where)
	}
	i := s.index
	if i < 0 {
		i += len(array)
	}
	if i < 0 || i >= len(array) {
		return nil, where, w.missing("finds no element %d at %s, which has %d", s.index, where, len(array))
	}
	return array[i], joined(where, fmt.Sprintf("[%d]", i)), nil
}

// missing is no data at all, unless there are others: then it is a hole in them.
func (w *walk) missing(format string, args ...any) error {
	if w.within {
		return sources.Errorf(sources.Invalid, format+", which others may have", args...)
	}
	return sources.Errorf(sources.NoData, format, args...)
}

// all goes to every element, in the order of the array or of the names.
func (w *walk) all(value any, steps []step, where string) error {
	keys, elements := elementsOf(value)
	if keys == nil {
		return sources.Errorf(sources.Invalid, "finds %s at %s, must find an array or an object", kind(value), where)
	}
	outer := *w
	w.within = true
	for i, key := range keys {
		w.labels, w.time, w.key = maps.Clone(outer.labels), outer.time, key
		below := fmt.Sprintf("[%d]", i)
		if _, named := value.(map[string]any); named {
			below = "[" + strconv.Quote(key) + "]"
		}
		if err := w.follow(elements[i], steps, joined(where, below)); err != nil {
			return err
		}
	}
	w.labels, w.time, w.key, w.within = outer.labels, outer.time, outer.key, outer.within
	return nil
}

// name takes the labels of a value.
func (w *walk) name(value any, labels []label, where string) error {
	for _, l := range labels {
		if l.key {
			w.labels[l.name] = w.key
			continue
		}
		found, there := value, where
		for _, s := range l.path {
			var err error
			if found, there, err = w.one(found, s, there); err != nil {
				return sources.Errorf(sources.Invalid, "%w, for %s", err, l.name)
			}
		}
		if err := w.take(l.name, found, there); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) take(name string, value any, where string) error {
	if name == timeLabel {
		at, ok := timeOf(value)
		if !ok {
			return sources.Errorf(sources.Invalid, "finds %s at %s, must find a time: seconds since 1970, or as in RFC 3339", show(value), where)
		}
		w.time = at
		return nil
	}
	switch v := value.(type) {
	case string:
		w.labels[name] = v
	case json.Number:
		w.labels[name] = v.String()
	case bool:
		w.labels[name] = strconv.FormatBool(v)
	default:
		return sources.Errorf(sources.Invalid, "finds %s at %s, must find a text or a number for %s", kind(value), where, name)
	}
	return nil
}

// add takes a number, or a text that is one.
func (w *walk) add(value any, where string) error {
	number, ok := numberOf(value)
	if !ok {
		return sources.Errorf(sources.Invalid, "finds %s at %s, must find a number", show(value), where)
	}
	w.series = append(w.series, sources.Series{Labels: maps.Clone(w.labels), Value: number, Time: w.time})
	return nil
}

// numberOf reads numbers, and texts that are decimal numbers, NaN or an infinity. What is too large
// is infinite, which is for the checks of samples to refuse.
func numberOf(value any) (float64, bool) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	for _, c := range []byte(text) {
		if c == '_' || c == 'x' || c == 'X' {
			return 0, false
		}
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil || errors.Is(err, strconv.ErrRange)
}

// timeOf reads seconds, or a text as in RFC 3339.
func timeOf(value any) (time.Time, bool) {
	if text, ok := value.(string); ok {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at, true
		}
	}
	seconds, ok := numberOf(value)
	const latest = 253402300799 // 9999-12-31
	if !ok || !(seconds >= 0 && seconds <= latest) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))), true
}

func kind(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	}
	return show(value)
}

// show is a value as an error shows it.
func show(value any) string {
	if value == nil {
		return "null"
	}
	if number, ok := value.(json.Number); ok {
		return number.String()
	}
	if _, ok := value.(map[string]any); ok {
		return "an object"
	}
	return options.Show(value)
}

// joined is a place below another; the document itself is a full stop.
func joined(where, below string) string {
	if where == "." {
		return "." + below
	}
	return where + below
}
