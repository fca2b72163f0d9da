package session

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser/browsertest"
	"takeover/cdp"
)

// opening serves pages that open others, on a press or when runLater tells them
// to.
func opening(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>`+r.URL.Path+`</title><body style="height:600px" onmousedown="window.open('/pressed')">`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// listed waits until there is a tab with the given path, and returns the path of
// the shown tab.
func (v *viewer) listed(path string) (shown string) {
	v.t.Helper()
	await(v, "tab "+path, func(m TabsMessage) bool {
		there := false
		for _, tab := range m.Tabs {
			u, _ := url.Parse(tab.URL)
			there = there || u.Path+u.Opaque == path
			if tab.Tab == m.Active {
				shown = u.Path + u.Opaque
			}
		}
		return there
	})
	return shown
}

// TestPopupsDoNotPushIn lets pages open others while a person is in control: only
// pages that the person's press opened are shown.
func TestPopupsDoNotPushIn(t *testing.T) {
	base := opening(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base + "/first"})
	v := join(t, s, RoleControl)
	v.titled("/first")
	v.picture("the page")
	runLater(t, s, "open('/free')")
	if shown := v.listed("/free"); shown != "/free" {
		t.Errorf("while nobody is in control %s is shown", shown)
	}
	epoch := v.take()
	for path, code := range map[string]string{
		"/unasked":  "open('/unasked')",
		"/noopener": "open('/noopener', '', 'noopener')",
		"/clicked":  "const a = document.createElement('a'); a.href = '/clicked'; a.dispatchEvent(new MouseEvent('click', { ctrlKey: true }))",
	} {
		runLater(t, s, code)
		if shown := v.listed(path); shown != "/free" {
			t.Errorf("%s is shown, without a press", shown)
		}
	}
	v.click(100, 100, epoch)
	if shown := v.listed("/pressed"); shown != "/pressed" {
		t.Errorf("%s is shown, although a press opened /pressed", shown)
	}

	// A tab that another one opened has nothing to go back to but that one. When Back
	// is pressed twice, the second one is not for the tab that is shown by then.
	pressed := s.shown().tab
	if err := v.Navigate(t.Context(), pressed, "back", ""); err != nil {
		t.Fatal(err)
	}
	await(v, "the tab that opened it", func(m TabsMessage) bool {
		var shown string
		if m.Active == pressed {
			return false
		}
		for _, tab := range m.Tabs {
			if strings.HasSuffix(tab.URL, "/pressed") {
				return false
			}
			if tab.Tab == m.Active {
				shown = tab.URL
			}
		}
		return strings.HasSuffix(shown, "/free")
	})
	if err := v.Navigate(t.Context(), pressed, "back", ""); !errors.Is(err, errOtherTab) {
		t.Errorf("the second Back gave %v", err)
	}
	v.click(100, 100, epoch)
	if shown := v.listed("/pressed"); shown != "/pressed" {
		t.Errorf("%s is shown, although a press opened /pressed again", shown)
	}

	// The press was in the previous page, not in this one.
	runLater(t, s, "open('/next')")
	if shown := v.listed("/next"); shown != "/pressed" {
		t.Errorf("%s is shown, which a page opened that nobody pressed in", shown)
	}
	// The press was too long ago.
	if err := v.Tab(t.Context(), "activate", 2); err != nil {
		t.Fatal(err)
	}
	s.gestures.mu.Lock()
	s.gestures.inPage = s.gestures.inPage.Add(-popupWindow - time.Second)
	s.gestures.mu.Unlock()
	runLater(t, s, "open('/late')")
	if shown := v.listed("/late"); shown != "/free" {
		t.Errorf("%s is shown, long after the press", shown)
	}
	// A page in the background opens another one just after a press in the shown
	// page.
	v.key(t, epoch, "a", "KeyA", 0)
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, p.Opener(), "open('/behind')")
	if shown := v.listed("/behind"); shown != "/free" {
		t.Errorf("%s is shown, opened by a page that nobody looks at", shown)
	}
	res, err := cdp.Call(browsertest.Context(t, "look"), p.Session(), runtime.Evaluate, runtime.EvaluateParams{Expression: "document.visibilityState"})
	if err != nil || string(res.Result.Value) != `"visible"` {
		t.Errorf("the page that is shown is %s, %v", res.Result.Value, err)
	}
	if err := v.Tab(t.Context(), "new", 0); err != nil {
		t.Fatal(err)
	}
	if shown := v.listed("blank"); shown != "blank" {
		t.Errorf("%s is shown, although the person opened a tab", shown)
	}
}

// TestTooManyTabs lets a page open tabs without end: their number is limited,
// viewers who may act are notified once, and closing a tab makes room for
// another.
func TestTooManyTabs(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: opening(t) + "/first"})
	v, onlooker := join(t, s, RoleControl), join(t, s, RoleView)
	v.titled("/first")
	v.take() // so that new pages stay in the background
	// All pages share a process, because a machine with few cores starts fifty
	// processes slowly.
	runLater(t, s, fmt.Sprintf("for (let i = 0; i < %d; i++) open('about:blank')", maxTabs+5))
	told := await(v, "that there are too many", anyMessage[ErrorMessage])
	if want := fmt.Sprintf("tabs: this page wanted another tab, but there are %d: close one", maxTabs); told.Message != want {
		t.Errorf("told %q", told.Message)
	}
	full := func(m TabsMessage) bool { return len(m.Tabs) == maxTabs }
	last := await(v, "all the tabs there may be", full).Tabs[maxTabs-1].Tab
	await(onlooker, "the same", full)
	for _, who := range []*viewer{v, onlooker} {
		for len(who.messages) > 0 {
			switch m := (<-who.messages).(type) {
			case ErrorMessage:
				t.Errorf("told %s as well", m.Message)
			case TabsMessage:
				if len(m.Tabs) > maxTabs {
					t.Errorf("%d tabs", len(m.Tabs))
				}
			}
		}
	}
	if err := v.Tab(t.Context(), "new", 0); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more by hand gave %v", err)
	}
	if err := v.Tab(t.Context(), "close", last); err != nil {
		t.Fatal(err)
	}
	await(v, "room", func(m TabsMessage) bool { return len(m.Tabs) < maxTabs })
	runLater(t, s, "open('about:blank')")
	await(v, "another one", full)
}
