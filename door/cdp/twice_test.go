package cdp

import (
	"fmt"
	"testing"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
)

// TestContextsThatAreClosedTwice lets two clients close one context, and its page,
// several times, while the one that made it leaves. The session's Chromium goes on.
func TestContextsThatAreClosedTwice(t *testing.T) {
	s := doortest.Borrow(t, "")
	address := serve(t, s, nil)
	stays := dial(t, address)
	for round := range 6 {
		leaves := dial(t, address)
		var made struct{ BrowserContextID, TargetID string }
		leaves.call("", "Target.createBrowserContext", `{"disposeOnDetach":true}`, &made)
		context := fmt.Sprintf(`{"browserContextId":%q}`, made.BrowserContextID)
		leaves.call("", "Target.createTarget", fmt.Sprintf(`{"url":"about:blank","browserContextId":%q}`, made.BrowserContextID), &made)
		if round%2 == 1 {
			stays.send("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID))
		}
		stays.send("", "Target.disposeBrowserContext", context)
		for range round % 3 {
			leaves.send("", "Target.disposeBrowserContext", context)
		}
		stays.send("", "Target.disposeBrowserContext", context)
		_ = leaves.conn.CloseNow()
		browsertest.Until(t, "the context to be gone", func() bool {
			var left struct{ BrowserContextIDs []string }
			stays.call("", "Target.getBrowserContexts", "", &left)
			return len(left.BrowserContextIDs) == 0
		})
	}
	if s.Status() != session.StatusLive {
		t.Errorf("the session is %s", s.Status())
	}
}
