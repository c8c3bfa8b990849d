package options

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// Reference writes the reference of a table in Markdown: the title, and one row per key with its
// type, default and meaning. The table is a struct that holds the defaults, as a driver decodes
// on top of; the meaning is the field's `doc` tag. A field without `doc` tag is an error: so a
// test that writes the reference finds the keys nobody described.
func Reference(w io.Writer, title string, table any) error {
	r := reference{}
	r.rows("", reflect.ValueOf(table))
	if r.undescribed != nil {
		return fmt.Errorf("cannot describe %q: no doc tag on %s", title, strings.Join(r.undescribed, ", "))
	}
	_, err := fmt.Fprintf(w, "%s\n\n| key | type | default | meaning |\n|---|---|---|---|\n%s", title, r.text.String())
	return err
}

type reference struct {
	text        strings.Builder
	undescribed []string
}

func (r *reference) rows(path string, v reflect.Value) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v = reflect.Zero(v.Type().Elem())
			continue
		}
		v = v.Elem()
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		key := JoinKey(path, name)
		doc := f.Tag.Get("doc")
		if doc == "" {
			r.undescribed = append(r.undescribed, key)
		}
		field, err := v.FieldByIndexErr(f.Index)
		if err != nil { // in an embedded nil pointer
			field = reflect.Zero(f.Type)
		}
		_, kind, _ := strings.Cut(noun(f.Type), " ")
		if f.Type.Kind() == reflect.Bool {
			kind = "true or false"
		}
		fmt.Fprintf(&r.text, "| `%s` | %s | %s | %s |\n", key, kind, defaultOf(field), strings.ReplaceAll(doc, "|", `\|`))
		r.below(key, field)
	}
}

// below writes the rows of the tables that a value holds.
func (r *reference) below(key string, v reflect.Value) {
	t := v.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if isTable(t) {
			r.rows(key, v)
		}
	case reflect.Slice:
		if isTable(t.Elem()) {
			r.rows(key+"[]", reflect.Zero(t.Elem()))
		}
	case reflect.Map:
		if isTable(t.Elem()) {
			r.rows(key+".NAME", reflect.Zero(t.Elem()))
		}
	}
}

func isTable(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && noun(t) == "a table"
}

// defaultOf shows a default as it would be written; what is empty or zero shows as nothing.
func defaultOf(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool {
		return ""
	}
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return fmt.Sprintf("`\"%s\"`", formatDuration(x))
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil || len(text) == 0 {
			return ""
		}
		return fmt.Sprintf("`%q`", text)
	}
	switch v.Kind() {
	case reflect.String:
		return fmt.Sprintf("`%q`", v.String())
	case reflect.Struct, reflect.Map:
		return ""
	case reflect.Slice:
		elements := make([]string, v.Len())
		for i := range elements {
			elements[i] = strings.Trim(defaultOf(v.Index(i)), "`")
		}
		return "`[" + strings.Join(elements, ", ") + "]`"
	}
	return fmt.Sprintf("`%v`", v.Interface())
}
