package options

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Decode reads values, a table as the TOML or a JSON library decodes it into a map, into the
// struct v points to, by its `toml` tags and on top of the defaults v holds. It does not stop at
// the first mistake: every unknown key and every value of the wrong type is in the result, made
// with Errorf (see Split), in the order of the keys. Paths (Path, Secret) are taken relative to
// dir.
//
// Fields may be of any basic kind, time.Duration, a type with UnmarshalTOML(any) error or
// encoding.TextUnmarshaler, structs, pointers, slices and string-keyed maps of these, and any.
// Fields without a tag are left alone; an embedded struct's fields count as the struct's own.
func Decode(dir string, values map[string]any, v any) error {
	d := decoder{dir: dir}
	d.structure("", values, reflect.ValueOf(v).Elem())
	return errors.Join(d.errs...)
}

// resolver is a value that depends on the folder of the file it stands in.
type resolver interface {
	resolve(dir string, x any) error
}

// tomlUnmarshaler is BurntSushi/toml's Unmarshaler.
type tomlUnmarshaler interface {
	UnmarshalTOML(x any) error
}

type decoder struct {
	dir  string
	errs []error
}

func (d *decoder) failf(key, format string, args ...any) {
	d.errs = append(d.errs, Errorf(key, format, args...))
}

// fail adds what a value's own method found, below key.
func (d *decoder) fail(key string, err error) {
	for _, e := range Split(err) {
		below, message := Key(e)
		d.errs = append(d.errs, &KeyError{Key: JoinKey(key, below), Message: message})
	}
}

func (d *decoder) structure(key string, values map[string]any, dst reflect.Value) {
	fields := fieldsOf(dst.Type())
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f, ok := fields[name]
		if !ok {
			d.errs = append(d.errs, unknownKey(key, name, slices.Sorted(maps.Keys(fields))))
			continue
		}
		d.value(JoinKey(key, Quote(name)), values[name], dst.FieldByIndex(f.Index))
	}
}

func (d *decoder) value(key string, x any, dst reflect.Value) {
	if x == nil || d.own(key, x, dst) {
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(dst.Type().Elem())
		before := len(d.errs)
		d.value(key, x, fresh.Elem())
		if len(d.errs) == before || fresh.Elem().Kind() == reflect.Struct {
			dst.Set(fresh)
		}
	case reflect.Interface:
		d.free(key, x, dst)
	case reflect.Struct:
		if table, ok := x.(map[string]any); ok {
			d.structure(key, table, dst)
			return
		}
		d.mismatch(key, x, dst.Type())
	case reflect.Map:
		d.mapping(key, x, dst)
	case reflect.Slice:
		d.list(key, x, dst)
	default:
		d.scalar(key, x, dst)
	}
}

// own lets a value decode itself, if its type knows how.
func (d *decoder) own(key string, x any, dst reflect.Value) bool {
	var err error
	switch v := dst.Addr().Interface().(type) {
	case *time.Duration:
		var parsed time.Duration
		if parsed, err = durationOf(x); err == nil {
			*v = parsed
		}
	case resolver:
		err = v.resolve(d.dir, x)
	case tomlUnmarshaler:
		err = v.UnmarshalTOML(x)
	case encoding.TextUnmarshaler:
		text, ok := x.(string)
		if !ok {
			d.failf(key, "must be a string, is %s", Show(x))
			return true
		}
		err = v.UnmarshalText([]byte(text))
	default:
		return false
	}
	if err != nil {
		d.fail(key, err)
	}
	return true
}

// free takes any value but numbers that are none.
func (d *decoder) free(key string, x any, dst reflect.Value) {
	if path, bad := notFinite("", x); bad {
		d.failf(JoinKey(key, path), "must be a finite number")
		return
	}
	dst.Set(reflect.ValueOf(x))
}

func (d *decoder) mapping(key string, x any, dst reflect.Value) {
	table, ok := x.(map[string]any)
	if !ok {
		d.mismatch(key, x, dst.Type())
		return
	}
	fresh := reflect.MakeMapWithSize(dst.Type(), len(table))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		element := reflect.New(dst.Type().Elem()).Elem()
		before := len(d.errs)
		d.value(JoinKey(key, Quote(name)), table[name], element)
		if len(d.errs) == before {
			fresh.SetMapIndex(reflect.ValueOf(name).Convert(dst.Type().Key()), element)
		}
	}
	dst.Set(fresh)
}

// list keeps an element for every one written, so that indexes stay those of the file.
func (d *decoder) list(key string, x any, dst reflect.Value) {
	elements, ok := listOf(x)
	if !ok {
		d.mismatch(key, x, dst.Type())
		return
	}
	fresh := reflect.MakeSlice(dst.Type(), len(elements), len(elements))
	for i, element := range elements {
		d.value(fmt.Sprintf("%s[%d]", key, i), element, fresh.Index(i))
	}
	dst.Set(fresh)
}

func (d *decoder) scalar(key string, x any, dst reflect.Value) {
	switch {
	case dst.Kind() == reflect.String:
		if s, ok := x.(string); ok {
			dst.SetString(s)
			return
		}
	case dst.Kind() == reflect.Bool:
		if b, ok := x.(bool); ok {
			dst.SetBool(b)
			return
		}
	case dst.CanInt() || dst.CanUint():
		if n, ok := wholeOf(x); ok {
			d.whole(key, n, dst)
			return
		}
	case dst.CanFloat():
		if f, ok := floatOf(x); ok {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				d.failf(key, "must be a finite number, is %s", Show(x))
				return
			}
			dst.SetFloat(f)
			return
		}
	default:
		panic(fmt.Sprintf("options: cannot decode into a field of type %s", dst.Type()))
	}
	d.mismatch(key, x, dst.Type())
}

func (d *decoder) whole(key string, n int64, dst reflect.Value) {
	least, most := int64(math.MinInt64)>>(64-dst.Type().Bits()), int64(math.MaxInt64)>>(64-dst.Type().Bits())
	if dst.CanUint() {
		least = 0
		if dst.Type().Bits() < 64 {
			most = 1<<dst.Type().Bits() - 1
		}
	}
	switch {
	case n < least:
		d.failf(key, "must be >= %d, is %d", least, n)
	case n > most:
		d.failf(key, "must be <= %d, is %d", most, n)
	case dst.CanUint():
		dst.SetUint(uint64(n))
	default:
		dst.SetInt(n)
	}
}

func (d *decoder) mismatch(key string, x any, want reflect.Type) {
	if _, isTable := x.(map[string]any); isTable && noun(want) == "an array of tables" {
		d.failf(key, "must be an array of tables, is a table: write its header as [[…]], or itself as [{ … }]")
		return
	}
	shown := Show(x)
	if _, isText := x.(string); isText && noun(want) == "a table" {
		shown = "a string" // perhaps a password in place of a table that names its file
	}
	d.failf(key, "must be %s, is %s", noun(want), shown)
}

// Keys returns the names of the keys of a table, sorted: those of the struct that it is decoded into.
func Keys(table any) []string {
	return slices.Sorted(maps.Keys(fieldsOf(reflect.TypeOf(table))))
}

// listOf returns the elements of an array, however the library made it.
func listOf(x any) ([]any, bool) {
	switch list := x.(type) {
	case []any:
		return list, true
	case []map[string]any:
		elements := make([]any, len(list))
		for i := range list {
			elements[i] = list[i]
		}
		return elements, true
	}
	return nil, false
}

// wholeOf takes a float without fraction too: JSON has no integers.
func wholeOf(x any) (int64, bool) {
	switch n := x.(type) {
	case int64:
		return n, true
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n), true
		}
	}
	return 0, false
}

func floatOf(x any) (float64, bool) {
	switch n := x.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// notFinite finds a NaN or an infinity in x, and where.
func notFinite(path string, x any) (string, bool) {
	switch v := x.(type) {
	case float64:
		return path, math.IsNaN(v) || math.IsInf(v, 0)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if p, bad := notFinite(JoinKey(path, Quote(name)), v[name]); bad {
				return p, true
			}
		}
	default:
		list, _ := listOf(x)
		for i := range list {
			if p, bad := notFinite(fmt.Sprintf("%s[%d]", path, i), list[i]); bad {
				return p, true
			}
		}
	}
	return "", false
}

// fieldsOf returns the fields of a struct by their keys.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name != "" && name != "-" && f.IsExported() {
			fields[name] = f
		}
	}
	return fields
}
