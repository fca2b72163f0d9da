// Package invalid says which fields of an input are wrong, and why.
package invalid

import (
	"fmt"
	"strings"
)

// FieldError says what is wrong with one field.
type FieldError struct {
	Field string `json:"field"` // as in JSON, such as "points[1].x"; "" for the input as a whole
	Error string `json:"error"` // such as "must be a finite number"
}

// Error is the error for an input with wrong fields. Fields holds at least one.
type Error struct{ Fields []FieldError }

// Error lists the fields and what is wrong with each.
func (e *Error) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		if parts[i] = f.Error; f.Field != "" {
			parts[i] = f.Field + ": " + f.Error
		}
	}
	return strings.Join(parts, "; ")
}

// Field returns the error for an input with one wrong field.
func Field(field, format string, args ...any) *Error {
	return &Error{Fields: []FieldError{{Field: field, Error: fmt.Sprintf(format, args...)}}}
}
