package session

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"takeover/links"
)

// widgetSite serves pages with widgets, by path.
func widgetSite(t *testing.T, pages map[string]string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html>"+pages[r.URL.Path])
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func (v *viewer) press(t *testing.T, epoch uint64, x, y float64) {
	t.Helper()
	for _, m := range []Mouse{
		{Event: "move", X: x, Y: y, Button: "none"},
		{Event: "down", X: x, Y: y, Button: "left", Buttons: 1, ClickCount: 1},
		{Event: "up", X: x, Y: y, Button: "left", ClickCount: 1},
	} {
		if err := v.Mouse(m, Stamp{Epoch: epoch}); err != nil {
			t.Fatal(err)
		}
	}
}

// control takes control and returns its epoch.
func (v *viewer) control(t *testing.T) uint64 {
	t.Helper()
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	return await(v, "control", func(m ControlMessage) bool { return m.Mine }).Epoch
}

// TestFocusAndCursor checks that viewers are notified of focus and cursor: those
// who are present, those who join later, and all after a change of tabs, but not
// those who may not see the page.
func TestFocusAndCursor(t *testing.T) {
	url := widgetSite(t, map[string]string{"/": `<style>*{margin:0}</style><input type=email style="position:absolute;left:100px;top:100px;width:200px;height:30px;cursor:cell">`})
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: url})
	v := join(t, s, RoleControl)
	await(v, "no focus", func(m FocusMessage) bool { return !m.Editable && m.Rect == nil })
	await(v, "cursor", func(m CursorMessage) bool { return m.Cursor == "default" })
	v.picture("picture")
	v.press(t, v.control(t), 150, 115)
	await(v, "cursor over the field", func(m CursorMessage) bool { return m.Cursor == "cell" })
	email := func(m FocusMessage) bool {
		return m.Editable && m.Kind == "email" && m.Rect != nil && m.Rect.X >= 100 && m.Rect.X < 300 && m.Rect.Y >= 95 && m.Rect.Y < 130
	}
	await(v, "focus", email)

	late := join(t, s, RoleView)
	await(late, "focus of before", email)
	await(late, "cursor of before", func(m CursorMessage) bool { return m.Cursor == "cell" })

	to, err := s.RequestTakeover(TakeoverOptions{Reason: "look", RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	guest, err := s.Join(ViewerOptions{Role: RoleTakeover, Link: &links.Grant{Takeover: to.ID()}})
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Leave()
	if m := s.focusFor(guest); !m.Editable {
		t.Errorf("a guest whose takeover is open: %+v", m)
	}
	if err := to.Cancel("test"); err != nil {
		t.Fatal(err)
	}
	if m := s.focusFor(guest); m.Editable || m.Kind != "" || m.Rect != nil {
		t.Errorf("a guest whose takeover is over is told of the focus: %+v", m)
	}
	if m := s.cursorFor(guest); m.Cursor != "default" {
		t.Errorf("a guest whose takeover is over is told of the cursor: %+v", m)
	}

	if err := v.Tab(t.Context(), "new", 0); err != nil {
		t.Fatal(err)
	}
	await(late, "another tab's focus", func(m FocusMessage) bool { return !m.Editable })
	await(late, "another tab's cursor", func(m CursorMessage) bool { return m.Cursor == "default" })
	if err := v.Tab(t.Context(), "activate", 1); err != nil {
		t.Fatal(err)
	}
	await(late, "the first tab's focus", email)
	await(late, "the first tab's cursor", func(m CursorMessage) bool { return m.Cursor == "cell" })
	if err := v.Navigate(t.Context(), 0, "goto", "about:blank"); err != nil {
		t.Fatal(err)
	}
	await(late, "another document's focus", func(m FocusMessage) bool { return !m.Editable })
	await(late, "another document's cursor", func(m CursorMessage) bool { return m.Cursor == "default" })
}
