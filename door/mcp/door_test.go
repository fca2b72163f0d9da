package mcp_test

import (
	"testing"
)

// TestFirstSteps does what every agent does: list the tools, start a session, open a
// page, read it, act on it.
func TestFirstSteps(t *testing.T) {
	s := startServer(t, nil)
	eachVersion(t, func(t *testing.T, version string) {
		s.t = t
		c := s.connect("", version, nil)
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) < 25 {
			t.Errorf("%d tools", len(list.Tools))
		}
		created := c.tool("session_create", nil)
		t.Log(created)
		t.Log(c.tool("browser_navigate", map[string]any{"url": s.base + "/demo/login"}))
		page := c.tool("browser_snapshot", nil)
		t.Log(page)
		t.Log(c.tool("browser_type", map[string]any{"target": refIn(t, page, `textbox "Email"`), "text": "demo@example.com"}))
		t.Log(c.tool("browser_type", map[string]any{"target": refIn(t, page, `textbox "Password"`), "text": "wrong"}))
		t.Log(c.tool("browser_click", map[string]any{"target": refIn(t, page, `button "Sign in"`)}))
		t.Log(c.tool("session_release", nil))
	})
}
