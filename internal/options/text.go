package options

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// JoinKey joins two paths of keys.
func JoinKey(path, key string) string {
	switch {
	case path == "":
		return key
	case key == "", strings.HasPrefix(key, "["):
		return path + key
	}
	return path + "." + key
}

// Quote returns a key as it is written in TOML: bare if it can be, else in quotes.
func Quote(key string) string {
	bare := key != ""
	for _, c := range []byte(key) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		bare = bare && (letter || '0' <= c && c <= '9' || c == '_' || c == '-')
	}
	if bare {
		return key
	}
	return strconv.Quote(key)
}

// Show returns a decoded value as a message shows it: short, and as it could stand in the file.
func Show(x any) string {
	const longest = 60
	switch v := x.(type) {
	case string:
		if len(v) > longest {
			return strconv.Quote(strings.ToValidUTF8(v[:longest], "")) + "…"
		}
		return strconv.Quote(v)
	case float64:
		return strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64))
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	case time.Time:
		return "a date"
	}
	return fmt.Sprint(x)
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	resolverType = reflect.TypeFor[resolver]()
	tomlType     = reflect.TypeFor[tomlUnmarshaler]()
)

// noun says what a field of type t holds.
func noun(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if named, ok := reflect.Zero(t).Interface().(interface{ OptionType() string }); ok {
		return named.OptionType()
	}
	if t == durationType || t == reflect.TypeFor[Duration]() {
		return "a duration"
	}
	for _, own := range []reflect.Type{textType, resolverType, tomlType} {
		if reflect.PointerTo(t).Implements(own) {
			return "a string"
		}
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Struct, reflect.Map:
		return "a table"
	case reflect.Slice:
		return "an array of " + plural(noun(t.Elem()))
	case reflect.Interface:
		return "a value"
	}
	return "a whole number"
}

func plural(noun string) string {
	if noun == "true or false" {
		return "true or false"
	}
	_, word, _ := strings.Cut(noun, " ")
	return word + "s"
}
