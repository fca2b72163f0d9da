package cdp

import (
	"fmt"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
)

// TestAClientThatHoldsAPage lets clients pause new pages and then go away, or read
// nothing. The pages come nevertheless.
func TestAClientThatHoldsAPage(t *testing.T) {
	s := doortest.Borrow(t, "")
	address := serve(t, s, nil)
	site := doortest.Site(t, map[string]string{"/": "<title>theirs</title>"})
	for name, after := range map[string]func(*peer){
		"leaves":        func(p *peer) { p.event("Target.attachedToTarget"); _ = p.conn.CloseNow() },
		"reads nothing": func(*peer) {},
	} {
		t.Run(name, func(t *testing.T) {
			p := dial(t, address)
			p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
			v := person(t, s)
			opened := make(chan error, 1)
			go func() { opened <- v.OpenTab(browsertest.Context(t, "open a tab"), site) }()
			after(p)
			if err := <-opened; err != nil {
				t.Fatal(err)
			}
			until(t, v, "the page", func(m session.TabsMessage) bool { return len(m.Tabs) > 1 && m.Tabs[len(m.Tabs)-1].Title == "theirs" })
			v.Leave()
		})
	}
}

// TestAClientThatKeepsAPage lets a client that answers pings pause a person's new page.
// The page comes nevertheless.
func TestAClientThatKeepsAPage(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, func(o *Options) { o.StallLimit = 5 * time.Second }))
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	go func() { // reading answers pings
		for {
			if _, _, err := p.conn.Read(t.Context()); err != nil {
				return
			}
		}
	}()
	v := person(t, s)
	if err := v.OpenTab(browsertest.Context(t, "open a tab"), doortest.Site(t, map[string]string{"/": "<title>theirs</title>"})); err != nil {
		t.Fatal(err)
	}
	until(t, v, "the page", func(m session.TabsMessage) bool { return len(m.Tabs) > 1 && m.Tabs[len(m.Tabs)-1].Title == "theirs" })
}

// TestAClientThatStopsAPage pauses a page at each key, and intercepts its requests without
// an answer. A person's keys and navigation come through nevertheless.
func TestAClientThatStopsAPage(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, func(o *Options) { o.StallLimit = 2 * time.Second }))
	page, _ := p.attach()
	site := doortest.Site(t, map[string]string{"/": `<title>keys</title><script>onkeydown = e => document.title += e.key</script>`, "/next": "<title>next</title>"})
	p.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, site), nil)
	p.call(page, "Debugger.enable", "", nil)
	p.call(page, "DOMDebugger.setEventListenerBreakpoint", `{"eventName":"keydown"}`, nil)
	p.call(page, "Fetch.enable", "{}", nil)
	go func() { // reading answers pings
		for {
			if _, _, err := p.conn.Read(t.Context()); err != nil {
				return
			}
		}
	}()
	v := person(t, s)
	control := until(t, v, "control", func(m session.ControlMessage) bool { return m.Holder.IsPerson() })
	for _, key := range []string{"1", "2"} {
		for _, event := range []string{"down", "up"} {
			if err := v.Key(session.Key{Event: event, Key: key, Code: "Digit" + key}, session.Stamp{Epoch: control.Epoch}); err != nil {
				t.Fatal(err)
			}
		}
	}
	until(t, v, "the keys", func(m session.TabsMessage) bool { return m.Tabs[0].Title == "keys12" })
	if err := v.Navigate(browsertest.Context(t, "navigate"), 0, "goto", site+"/next"); err != nil {
		t.Fatal(err)
	}
	until(t, v, "the next page", func(m session.TabsMessage) bool { return m.Tabs[0].Title == "next" })
}
