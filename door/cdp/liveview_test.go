package cdp

import (
	"fmt"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
)

// TestLiveViewOfATarget asks for live views of pages. Each is shown to people, unless
// one of them is in control.
func TestLiveViewOfATarget(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	_, first := p.attach()
	v := person(t, s)
	if err := v.OpenTab(browsertest.Context(t, "a tab"), doortest.Site(t, map[string]string{"/": "<title>second</title>"})); err != nil {
		t.Fatal(err)
	}
	shown := func(m session.TabsMessage) string {
		for _, tab := range m.Tabs {
			if tab.Tab == m.Active {
				return tab.Title
			}
		}
		return ""
	}
	until(t, v, "the second tab", func(m session.TabsMessage) bool { return len(m.Tabs) == 2 && shown(m) == "second" })
	view := func(target string) {
		t.Helper()
		var view struct{ DevtoolsFrontendURL string }
		p.call("", "Cloudflare.getLiveView", fmt.Sprintf(`{"targetId":%q}`, target), &view)
		if !strings.Contains(view.DevtoolsFrontendURL, "/sessions/"+s.ID()+"#") {
			t.Errorf("the live view is %q", view.DevtoolsFrontendURL)
		}
	}
	view(first)
	if title := s.Info().Title; title != "second" {
		t.Errorf("while a person is in control, they are shown %q", title)
	}
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	view(first)
	until(t, v, "the first tab", func(m session.TabsMessage) bool { return len(m.Tabs) == 2 && m.Active == m.Tabs[0].Tab })
	links := len(s.Links())
	for _, unknown := range []string{"none", ""} {
		if m := p.reply(p.send("", "Cloudflare.getLiveView", fmt.Sprintf(`{"targetId":%q}`, unknown))); m.Error == nil || !strings.Contains(m.Error.Message, "targetId") {
			t.Errorf("%q: %+v", unknown, m)
		}
	}
	if len(s.Links()) != links {
		t.Error("a link was made for no page")
	}
}
