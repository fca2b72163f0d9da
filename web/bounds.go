package web

import (
	"reflect"
	"strings"
	"time"

	"takeover/web/apidoc"
)

// checkBounds checks a decoded body against the bounds in the tags of its fields
// (apidoc.Field), also those of objects within. The error names all fields at fault. A
// field that was left out has no bounds: one that is nil or, with omitempty, zero.
func checkBounds(body any) error {
	var v checks
	if object := reflect.ValueOf(body).Elem(); object.Kind() == reflect.Struct {
		v.within(object, "")
	}
	return v.err()
}

// within checks the fields of an object. prefix begins their names.
func (v *checks) within(object reflect.Value, prefix string) {
	for f, value := range object.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.Contains(options, "omitempty") && value.IsZero() {
			continue
		}
		if value.Kind() == reflect.Pointer {
			value = value.Elem() // invalid for nil
		}
		switch {
		case value.Kind() == reflect.Struct && name == "":
			v.within(value, prefix)
		case value.Kind() == reflect.Struct:
			v.within(value, prefix+name+".")
		case value.IsValid():
			v.bounded(prefix+name, value, apidoc.Bounds(f))
		}
	}
}

// bounded checks one value.
func (v *checks) bounded(field string, value reflect.Value, of object) {
	if longest, ok := of["maxLength"].(int64); ok {
		v.atMost(field, value.String(), int(longest))
	}
	if words, ok := of["enum"].([]string); ok {
		v.oneOf(field, value.String(), words...)
	}
	low, high := of["minimum"], of["maximum"]
	if low == nil || high == nil {
		return
	}
	number := reflect.TypeFor[float64]() // exact for all whole numbers that a tag has
	n := value.Convert(number).Float()
	if n < reflect.ValueOf(low).Convert(number).Float() || n > reflect.ValueOf(high).Convert(number).Float() {
		v.add(field, "must be from %v to %v", low, high)
	}
}

// duration converts a field in milliseconds. nil becomes zero, which means the default.
func duration(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}
