package id_test

import (
	"regexp"
	"testing"

	"takeover/id"
)

// TestNew checks the form of ids, and that two of them differ.
func TestNew(t *testing.T) {
	first, second := id.New("run"), id.New("run")
	if !regexp.MustCompile(`^run_[0-9a-f]{24}$`).MatchString(first) {
		t.Errorf("id %q", first)
	}
	if first == second {
		t.Errorf("%q twice", first)
	}
}
