package automation

import (
	"testing"
	"time"
)

// TestAttemptTime checks that an operation that must look at the page at least
// once gets one attempt even if its time is already up, and that others get none.
func TestAttemptTime(t *testing.T) {
	late := &progress{timeout: 50, deadline: time.Now().Add(-time.Second)}
	if _, ok := late.attemptTime(0); ok {
		t.Error("an action gets an attempt when its time is up")
	}
	late.looks = true
	if ms, ok := late.attemptTime(0); !ok || ms != leastExpect {
		t.Errorf("the first look has %v ms, %v", ms, ok)
	}
	if _, ok := late.attemptTime(1); ok {
		t.Error("there is a second look when the time is over")
	}
}
