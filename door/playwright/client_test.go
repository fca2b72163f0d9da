package playwright

import (
	"strings"
	"testing"

	"takeover/door/doortest"
	"takeover/session"
)

// site is a page for the tests.
var site = map[string]string{
	"/":      `<title>site</title><button onclick="document.querySelector('output').textContent = 'clicked'">Press</button><output></output><label>Name <input></label><button id=popup onclick="window.open('/other')">Open</button><a id=download href="/report.txt" download>Get</a><input type=file onchange="document.title = this.files[0].name">`,
	"/other": `<title>other</title>`, "/report.txt": "the report\n",
}

// TestClient drives a session with the real client.
func TestClient(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	out := run(t, "client.mjs", serve(t, newDoor(Options{}), s), doortest.Site(t, site), t.TempDir())
	if !strings.Contains(out, "done") {
		t.Errorf("the client printed %q", out)
	}
	if s.Status().Ended() {
		t.Error("the session ended with the client")
	}
}
