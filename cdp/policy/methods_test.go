package policy

import (
	"slices"
	"strings"
	"testing"
)

// TestLinesAreWellFormed checks the words of each line, and that what is not passed
// has a reason.
func TestLinesAreWellFormed(t *testing.T) {
	list := lines(methodsFile)
	if !slices.IsSorted(list) {
		t.Error("methods.txt is not sorted")
	}
	words := [][]string{nil, {"allowed", "refused"}, {"pass", "mapped", "refused"}, {"reads", "writes", "draws"}}
	for _, line := range list {
		cells := strings.SplitN(line, " ", 5)
		if len(cells) < 4 {
			t.Errorf("too few words: %s", line)
			continue
		}
		for i, allowed := range words {
			if allowed != nil && !slices.Contains(allowed, cells[i]) {
				t.Errorf("%q is not one of %v: %s", cells[i], allowed, line)
			}
		}
		reason := ""
		if len(cells) == 5 {
			reason, _, _ = strings.Cut(cells[4], "|")
		}
		if (cells[2] == "pass") != (reason == "") {
			t.Errorf("for clients, a command that passes has no reason, every other one has: %s", line)
		}
	}
}

// TestTable looks up a few commands.
func TestTable(t *testing.T) {
	for name, want := range map[string]Method{
		"Page.getFrameTree": {Script: true, Client: Pass},
		"Page.reload":       {Script: true, Client: Pass, Writes: true},
		"Page.navigate":     {Script: true, Client: Mapped, Writes: true, Reason: "through the address guard"},
		"Browser.crash":     {Client: Refused, Writes: true, Reason: "it ends everybody's browser", ScriptReason: "it ends everybody's browser"},
		"Ads.getAdMetrics":  {Client: Pass, ScriptReason: textNotOpened},
		"Page.printToPDF":   {Script: true, Client: Mapped, Draws: true, Reason: "waits while a person is in a secret field"},
	} {
		want.Name = name
		if got, ok := Find(name); !ok || got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	if m, ok := Find("No.such"); ok {
		t.Errorf("found %+v", m)
	}
}
