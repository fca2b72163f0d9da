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
