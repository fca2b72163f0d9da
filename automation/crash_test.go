package automation_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"takeover/automation"
	"takeover/browser/browsertest"
)

// TestOperationsOutliveACrash crashes a page for which operations wait, while a person is
// in control, who may load it again. If the person does not, they fail afterwards.
func TestOperationsOutliveACrash(t *testing.T) {
	for name, revives := range map[string]bool{"loaded again": true, "left crashed": false} {
		t.Run(name, func(t *testing.T) {
			s := site(t, map[string]string{"/": "<title>t</title>", "/late": "<p id=late>here</p>"})
			person := newRig(t)
			person.do("frame.goto", params{"url": s.URL}, nil)
			l := newLease()
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			var asked atomic.Int32
			c := person.automation.NewClient(automation.ClientOptions{Context: person.context, AwaitControl: l.awaitControl, Emit: func(string, json.RawMessage) {}, Waits: func() bool {
				asked.Add(1)
				return l.awaitControl(ended, nil) != nil
			}})
			t.Cleanup(c.Close)
			r := &rig{TB: person.TB, browser: person.browser, automation: person.automation, client: c, context: person.context, told: make(chan struct{}, 1)}
			r.rename()
			waits := map[string]params{
				"frame.waitForSelector": {"selector": "#late", "state": "visible", "timeout": 0},
				"frame.waitForFunction": {"isFunction": true, "expression": "() => document.querySelector('#late')", "timeout": 0},
			}
			done := make(chan error, len(waits))
			for op, p := range waits {
				go func() { done <- r.call(op, p, nil) }()
			}
			l.take()
			session := person.attach()
			go func() { _, _ = person.command(session, "Page.crash", nil) }() // it is never answered
			browsertest.Until(t, "the operations to try again", func() bool { return asked.Load() > 6 })
			if len(done) > 0 {
				t.Fatalf("an operation ended with the crash: %v", <-done)
			}
			if revives {
				person.do("frame.goto", params{"url": s.URL + "/late"}, nil)
			}
			l.giveBack()
			for range waits {
				if err := <-done; (err == nil) != revives || err != nil && !strings.Contains(err.Error(), "Target crashed") {
					t.Error(err)
				}
			}
		})
	}
}
