package automation

import (
	"testing"
	"time"
)

// What is late before it begins is looked at once, if that changes nothing.
func TestTurn(t *testing.T) {
	late := &progress{timeout: 50, deadline: time.Now().Add(-time.Second)}
	if _, ok := late.attemptTime(0); ok {
		t.Error("an action has a turn when its time is over")
	}
	late.looks = true
	if ms, ok := late.attemptTime(0); !ok || ms != leastExpect {
		t.Errorf("the first look has %v ms, %v", ms, ok)
	}
	if _, ok := late.attemptTime(1); ok {
		t.Error("there is a second look when the time is over")
	}
}
