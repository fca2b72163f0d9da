package apidoc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"takeover/session"
)

// formOf describes in words the JSON form of a value. Objects of the API have
// their names from openapi.json.
func formOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[jsontext.Value](), reflect.TypeFor[json.RawMessage]():
		return "any"
	case reflect.TypeFor[session.RunInfo](), reflect.TypeFor[session.TakeoverInfo]():
		return cmp.Or(Component(t), t.Name())
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(textMarshaler) {
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return formOf(t.Elem()) + " or null"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "[" + formOf(t.Elem()) + "]"
	case reflect.Struct:
		return Shape(t)
	case reflect.Map, reflect.Interface:
		return "any"
	}
	return "number"
}

// Shape lists the fields of a message with their forms, but not its type. Names of optional
// fields have a question mark.
func Shape(t reflect.Type) string {
	var parts []string
	for _, f := range Fields(t) {
		switch {
		case f.Name == "type":
		case f.Always:
			parts = append(parts, f.Name+": "+formOf(f.Kind))
		default:
			parts = append(parts, f.Name+"?: "+formOf(f.Kind))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

var textMarshaler = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()

// BoundsInWords describes the keywords of a schema.
func BoundsInWords(bounds Object) string {
	var parts []string
	low, hasLow := bounds["minimum"]
	high, hasHigh := bounds["maximum"]
	switch {
	case hasLow && hasHigh:
		parts = append(parts, number(low)+" to "+number(high))
	case hasLow:
		parts = append(parts, number(low)+" or more")
	case hasHigh:
		parts = append(parts, "at most "+number(high))
	}
	if words, ok := bounds["enum"].([]string); ok {
		parts = append(parts, strings.Join(words, ", "))
	}
	if longest, ok := bounds["maxLength"]; ok {
		parts = append(parts, "at most "+sizeInWords(longest))
	}
	if value, ok := bounds["default"]; ok {
		parts = append(parts, "default "+number(value))
	}
	return strings.Join(parts, "; ")
}

// sizeInWords writes a number of bytes, in KiB or MiB if there is a whole number of them.
func sizeInWords(value any) string {
	n, ok := value.(int64)
	switch {
	case ok && n >= 1<<20 && n%(1<<20) == 0:
		return number(n>>20) + " MiB"
	case ok && n >= 1<<10 && n%(1<<10) == 0:
		return number(n>>10) + " KiB"
	}
	return number(value) + " bytes"
}

// number writes a number with a comma between thousands, and other values as they
// are.
func number(value any) string {
	text := fmt.Sprint(value)
	if _, err := strconv.Atoi(text); err != nil {
		return text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
