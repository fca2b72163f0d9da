package session

import (
	"fmt"
	"strings"
	"testing"

	"takeover/codegen"
)

// TestJoined joins what two people did in sessions whose tabs have other numbers.
func TestJoined(t *testing.T) {
	first := codegen.Recording{Start: "https://example.com/", Tab: 1, Steps: []codegen.PersonStep{
		{Kind: codegen.Fill, Tab: 1, Selector: "#pw", Secret: "secret"}, {Kind: codegen.Click, Tab: 2, Selector: "#a"},
	}}
	second := codegen.Recording{End: "https://example.com/end", Tab: 7, Cut: true, Steps: []codegen.PersonStep{
		{Kind: codegen.Fill, Tab: 7, Selector: "#code", Secret: "secret"}, {Kind: codegen.Click, Tab: 9, Selector: "#b"}, {Kind: codegen.Click, Tab: 7, Selector: "#c"},
	}}
	r := joined(first, second)
	var told []string
	for _, s := range r.Steps {
		told = append(told, fmt.Sprint(s.Tab, s.Selector, s.Secret))
	}
	if got := strings.Join(told, " "); got != "1#pwsecret 2#a 2#codesecret2 3#b 2#c" || r.Start != first.Start || r.End != second.End || r.Tab != 1 || !r.Cut {
		t.Errorf("together they are %s in %+v", got, r)
	}
	for range 3 {
		r = joined(r, codegen.Recording{Tab: 1, Steps: make([]codegen.PersonStep, codegen.MaxSteps)})
	}
	if len(r.Steps) > codegen.MaxSteps || !r.Cut {
		t.Errorf("%d steps are kept", len(r.Steps))
	}
}
