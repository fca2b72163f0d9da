package invalid_test

import (
	"testing"

	"takeover/invalid"
)

// TestError checks the text that lists the fields.
func TestError(t *testing.T) {
	if got, want := invalid.Field("width", "must be at least %d", 3).Error(), "width: must be at least 3"; got != want {
		t.Errorf("one field: %q, want %q", got, want)
	}
	two := &invalid.Error{Fields: []invalid.FieldError{{Field: "a", Error: "is required"}, {Field: "b", Error: "is too long"}}}
	if got, want := two.Error(), "a: is required; b: is too long"; got != want {
		t.Errorf("two fields: %q, want %q", got, want)
	}
}
