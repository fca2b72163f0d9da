package cdp

import (
	"encoding/json"
	"slices"
	"testing"

	"takeover/door/doortest"
)

// TestListsAPageThatIsNotComplete lists and opens a page that another client keeps from
// loading, and one that was closed just now.
func TestListsAPageThatIsNotComplete(t *testing.T) {
	s := doortest.Borrow(t, "")
	address := serve(t, s, nil)
	p := dial(t, address)
	lists := func() (ids []string) {
		t.Helper()
		list, err := ListTargets(t.Context(), s, Endpoint{Page: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			ids = append(ids, one.ID)
		}
		return ids
	}
	before := lists()
	if len(before) != 1 {
		t.Fatalf("at first: %v", before)
	}
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	var made struct{ TargetID string }
	p.call("", "Target.createTarget", `{"url":"about:blank"}`, &made)
	if got := lists(); !slices.Equal(got, []string{made.TargetID, before[0]}) {
		t.Errorf("the pages are %v, and %s was opened last", got, made.TargetID)
	}
	page := dial(t, address+"?page="+made.TargetID)
	var told struct {
		TargetInfo struct{ TargetID string }
	}
	page.call("", "Target.getTargetInfo", "", &told)
	if told.TargetInfo.TargetID != made.TargetID {
		t.Errorf("the socket of the page is that of %+v", told)
	}
	raw, err := json.Marshal(map[string]string{"targetId": made.TargetID})
	if err != nil {
		t.Fatal(err)
	}
	p.call("", "Target.closeTarget", string(raw), nil)
	p.event("Target.detachedFromTarget")
	if got := lists(); !slices.Equal(got, before) {
		t.Errorf("after the page was closed, the pages are %v", got)
	}
}
