package web

import (
	"testing"
	"time"
)

// TestLengthWords formats durations for the settings page, without dropping a part
// of them.
func TestLengthWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                           "0 s",
		45 * time.Second:            "45 s",
		90 * time.Second:            "1 min 30 s",
		time.Hour:                   "60 min",
		150 * time.Minute:           "2 h 30 min",
		24 * time.Hour:              "24 h",
		2*time.Hour + 5*time.Second: "2 h 5 s",
	} {
		if got := lengthWords(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// TestVersionWords names releases as they are, and other builds as such.
func TestVersionWords(t *testing.T) {
	for version, want := range map[string]string{
		"v1.4.0":              "v1.4.0",
		"1.4.0":               "1.4.0",
		"v2.0.0-rc.1":         "v2.0.0-rc.1",
		"b6d8dcd2":            "Development build b6d8dcd2",
		"b6d8dcd2-dirty":      "Development build b6d8dcd2 with changes",
		"v1.4.0-12-gb6d8dcd2": "Development build v1.4.0-12-gb6d8dcd2",
		"dev-b6d8dcd2a1c3":    "Development build b6d8dcd2a1c3",
		"dev-b6d8dcd2a1c3+":   "Development build b6d8dcd2a1c3 with changes",
		"dev":                 "Development build",
	} {
		if got := versionWords(version); got != want {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
	}
}
