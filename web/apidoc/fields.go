package apidoc

import (
	"reflect"
	"strconv"
	"strings"
)

// Field is a field of a JSON object, as its Go struct describes it. Besides its
// JSON name, the tag of a field may have these keys:
//
//	doc       what the field is for
//	required  the field must be given in a request
//	min, max  the least and the greatest number
//	maxBytes  the length of the longest text
//	default   the value if the field is left out
//	one       the values that it may have, separated by commas
type Field struct {
	Name     string
	Kind     reflect.Type
	Does     string
	Required bool
	Always   bool   // in a response, the field is never left out
	Bounds   Object // keywords of OpenAPI with their values
}

// Fields lists a struct's fields in their order, with those of embedded structs
// in their place.
func Fields(t reflect.Type) (fields []Field) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			embedded, optional := f.Type, f.Type.Kind() == reflect.Pointer
			if optional {
				embedded = embedded.Elem()
			}
			for _, inner := range Fields(embedded) {
				inner.Always = inner.Always && !optional
				fields = append(fields, inner)
			}
			continue
		}
		if !f.IsExported() || name == "-" || name == "" {
			continue
		}
		fields = append(fields, Field{
			Name: name, Kind: f.Type, Does: f.Tag.Get("doc"), Required: f.Tag.Get("required") != "",
			Always: !strings.Contains(options, "omit"), Bounds: Bounds(f),
		})
	}
	return fields
}

// Bounds reads the bounds in a field's tag, as keywords of OpenAPI with their values.
func Bounds(f reflect.StructField) Object {
	found := Object{}
	for tag, keyword := range map[string]string{"min": "minimum", "max": "maximum", "maxBytes": "maxLength", "default": "default"} {
		if text, ok := f.Tag.Lookup(tag); ok {
			found[keyword] = valueOf(text)
		}
	}
	if words := f.Tag.Get("one"); words != "" {
		found["enum"] = strings.Split(words, ",")
	}
	return found
}

// valueOf reads a number, true or false; other texts stand for themselves.
func valueOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return b
	}
	return text
}
