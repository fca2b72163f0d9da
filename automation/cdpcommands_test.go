package automation

import (
	"strings"
	"testing"

	"takeover/cdp/methods"
)

// TestCDPCommandsAreClassified compares what scripts may send with the table of
// package cdp/methods, which lists every command of the protocol. For a new
// command, think about what it reaches before you allow it.
func TestCDPCommandsAreClassified(t *testing.T) {
	listed := map[string]bool{}
	for m := range methods.All() {
		listed[m.Name] = true
		if allowed := checkAllowed(m.Name) == nil; allowed != m.Script {
			t.Errorf("scripts may send %s: %v, and the table says %v", m.Name, allowed, m.Script)
		}
	}
	for name := range allowedCommands {
		if _, method, _ := strings.Cut(name, "."); method != allCommands && !listed[name] {
			t.Errorf("%s is allowed, and not in the table", name)
		}
	}
}
