package mcp_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/profiles"
	"takeover/session"
	"takeover/store"
	"takeover/web"
)

// TestNamesOfOthers calls tools with the arguments that models know from other servers.
func TestNamesOfOthers(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	page := c.tool("browser_snapshot", nil)
	c.tool("session_files", map[string]any{"action": "write", "name": "cv.txt", "content": "me"})
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"browser_click", map[string]any{"element": "the button", "ref": refIn(t, page, "Log")}, "a line of the page"},
		{"browser_hover", map[string]any{"element": "the button", "target": "#hover"}, "hovered"},
		{"browser_fill_form", map[string]any{"fields": []map[string]any{
			{"name": "Name", "type": "textbox", "ref": refIn(t, page, "Name"), "value": "Ada"}, {"name": "Agree", "type": "checkbox", "target": "#agree", "element": "box", "value": "true"},
		}}, "[checked]"},
		{"browser_drag", map[string]any{"startElement": "this", "startTarget": "#from", "endElement": "that", "endRef": "#to"}, "dropped"},
		{"browser_file_upload", map[string]any{"target": "#file", "paths": []string{"cv.txt"}}, "cv.txt"},
		{"browser_click", map[string]any{"target": "#prompt"}, `prompt "Name?"`},
		{"browser_handle_dialog", map[string]any{"accept": true, "promptText": "Linus"}, "Linus"},
		{"browser_take_screenshot", map[string]any{"type": "png", "filename": "view.png"}, "view.png"},
		{"browser_find", map[string]any{"regex": "^button .D"}, "Double"},
		{"browser_find", map[string]any{"regex": "/^button .D/"}, "Double"},
		{"browser_find", map[string]any{"regex": "("}, "regex: error parsing"},
		{"browser_find", nil, "text: is required"},
		{"browser_console_messages", map[string]any{"level": "info"}, "a line of the page"},
		{"browser_console_messages", map[string]any{"level": "loud"}, "level: must be"},
		{"browser_console_messages", map[string]any{"filename": "log.txt"}, "log.txt"},
		{"browser_network_requests", map[string]any{"filter": "127.0.0.1:[0-9]+/$"}, "GET " + base},
		{"browser_network_requests", map[string]any{"filter": "["}, "filter: error parsing"},
		{"browser_network_requests", map[string]any{"filename": "requests.txt"}, "requests.txt"},
		{"browser_tabs", map[string]any{"action": "new", "url": base + "/other"}, "tab 2 of 2"},
		{"browser_tabs", map[string]any{"action": "select", "index": 0}, "tab 1 of 2"},
		{"browser_tabs", map[string]any{"action": "close", "index": 1}, "there are 1"},
		{"browser_tabs", map[string]any{"action": "close", "index": 1}, "index: must be between 0 and 0"},
		{"browser_click", map[string]any{"ref": "e1", "target": "e2"}, "ref: is the same as target"},
		{"browser_fill_form", map[string]any{"fields": []map[string]any{{"target": "#name", "value": "x"}, {"ref": "e1", "target": "e2", "value": "x"}}}, "fields[1].ref: is the same as target"},
		{"browser_click", map[string]any{"target": "e2", "colour": "red"}, "colour"},
		{"session_files", map[string]any{"ref": "e1"}, "ref"},
	} {
		if text, _ := c.try(step.tool, step.args); !strings.Contains(text, step.want) {
			t.Errorf("%s %v: no %q in:\n%s", step.tool, step.args, step.want, text)
		}
	}
}

// TestFilesOverMCP writes, lists, reads and deletes files of the session.
func TestFilesOverMCP(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", nil)
	files := func(action string, args map[string]any) string {
		t.Helper()
		if args == nil {
			args = map[string]any{}
		}
		args["action"] = action
		text, _ := c.try("session_files", args)
		return text
	}
	contains(t, files("list", nil), "no files")
	long := strings.Repeat("ä line of a long text\n", 5000)
	contains(t, files("write", map[string]any{"name": "long.txt", "content": long}), fmt.Sprintf("long.txt has %d bytes", len(long)))
	contains(t, files("write", map[string]any{"name": "b.bin", "content": base64.StdEncoding.EncodeToString([]byte{0, 255, 7}), "base64": true}), "b.bin has 3 bytes")
	contains(t, c.tool("session_files", nil), "- b.bin 3 bytes", "- long.txt")
	var read strings.Builder
	for from := 0; ; {
		text := files("read", map[string]any{"name": "long.txt", "from": from})
		part, rest, more := strings.Cut(text, "\n… bytes ")
		if !more {
			part, _, _ = strings.Cut(text, "\nbackgroundEvents")
		}
		read.WriteString(part)
		if !more {
			break
		}
		var begin, end, all int
		if _, err := fmt.Sscanf(rest, "%d to %d of %d", &begin, &end, &all); err != nil || begin != from || end <= from {
			t.Fatalf("%q: %v", rest[:80], err)
		}
		from = end
	}
	if strings.TrimSpace(read.String()) != strings.TrimSpace(long) {
		t.Errorf("read %d bytes of %d", read.Len(), len(long))
	}
	contains(t, files("read", map[string]any{"name": "long.txt", "from": 1, "length": 0}), "is no text")
	contains(t, files("read", map[string]any{"name": "long.txt", "from": 2, "length": 5}), " line")
	contains(t, files("read", map[string]any{"name": "b.bin"}), "is no text", "base64:true")
	contains(t, files("read", map[string]any{"name": "b.bin", "base64": true}), base64.StdEncoding.EncodeToString([]byte{0, 255, 7}))
	for _, tt := range []struct {
		action string
		args   map[string]any
		want   string
	}{
		{"read", map[string]any{"name": "none.txt"}, "none.txt"},
		{"read", map[string]any{"name": "../profile/Cookies"}, "no such file"},
		{"read", map[string]any{"name": "b.bin", "from": 4}, "from: must be between 0 and 3"},
		{"read", nil, "name: is required"},
		{"write", map[string]any{"name": "x"}, "content: is required"},
		{"write", map[string]any{"name": "../x", "content": ""}, "name"},
		{"write", map[string]any{"name": "x", "content": "?", "base64": true}, "content: is not base64"},
		{"rename", map[string]any{"name": "x"}, "action: must be"},
	} {
		contains(t, files(tt.action, tt.args), "Error", tt.want)
	}
	contains(t, files("delete", map[string]any{"name": "b.bin"}), "deleted")
	if text := files("list", nil); strings.Contains(text, "b.bin") {
		t.Errorf("a deleted file is listed: %s", text)
	}
}

// TestLongResultsCanBeRead evaluates what does not fit into an answer.
func TestLongResultsCanBeRead(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	const code = "Array.from({ length: 2000 }, (_, i) => 'entry ' + i)"
	short := c.tool("browser_evaluate", map[string]any{"function": code})
	contains(t, short, "result.json", "session_files")
	contains(t, c.tool("session_files", map[string]any{"action": "read", "name": "result.json", "from": 24_000}), "entry 1999")
	contains(t, c.tool("browser_evaluate", map[string]any{"function": code, "all": true}), "entry 1999")
	contains(t, c.tool("browser_evaluate", map[string]any{"function": "1 + 1", "filename": "two.json"}), "Result: 2", "two.json")
	contains(t, c.tool("browser_run_code", map[string]any{"code": "return " + code, "all": true}), "entry 1999")
	c.tool("browser_take_screenshot", map[string]any{"filename": "view.png", "format": "png"})
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "session_files", Arguments: map[string]any{"action": "read", "name": "view.png"}})
	if err != nil || r.IsError || len(r.Content) < 2 {
		t.Fatalf("%v %s", err, textOf(r))
	}
	if picture, ok := r.Content[1].(*sdk.ImageContent); !ok || picture.MIMEType != "image/png" {
		t.Errorf("%T", r.Content[1])
	}
}

// TestDialogBetweenCalls opens dialogs while no call is under way: one waits for the next
// call, one goes to a person who takes control meanwhile.
func TestDialogBetweenCalls(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{"/": `<title>Later</title><p id=out></p><script>
		function later() { setTimeout(() => document.querySelector('#out').textContent = 'it was ' + confirm('Sure?'), 300) }</script>`})
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	c.tool("browser_snapshot", nil)
	one := s.manager.List()[0]
	ask := func() {
		t.Helper()
		c.tool("browser_evaluate", map[string]any{"function": "() => later()"})
		ctx := browsertest.Context(t, "the dialog")
		for text := ""; !strings.Contains(text, `A dialog is open: confirm "Sure?"`); text = c.tool("browser_snapshot", nil) {
			if ctx.Err() != nil {
				t.Fatalf("no dialog: %s", text)
			}
		}
	}
	ask()
	c.tool("browser_handle_dialog", map[string]any{"accept": true})
	contains(t, c.tool("browser_snapshot", nil), "it was true")
	ask()
	v, err := one.Join(session.ViewerOptions{Role: session.RoleControl, Name: "a person"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	for id := ""; id == ""; {
		m, err := v.NextMessage(browsertest.Context(t, "the question"))
		if err != nil {
			t.Fatal(err)
		}
		if asked, ok := m.(session.DialogMessage); ok {
			id = asked.ID
		}
		if id != "" {
			if err := v.Dialog(id, false, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	contains(t, c.tool("browser_wait_for", map[string]any{"text": "it was false"}), "Page:")
	v.Leave()
	contains(t, c.fails("browser_handle_dialog", map[string]any{"accept": true}), "no dialog is open")
}

// TestRunAfterACancelledOne runs a script right after the call of another was cancelled.
func TestRunAfterACancelledOne(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	one := s.manager.List()[0]
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "browser_run_code", Arguments: map[string]any{"code": "await page.locator('#never').click({ timeout: 0 })"}})
			failed <- err
		}()
		waiting := browsertest.Context(t, "the run")
		for !running(one) {
			if waiting.Err() != nil {
				t.Fatal("no run")
			}
		}
		cancel()
		if err := <-failed; err == nil {
			t.Error("the cancelled call succeeded")
		}
		contains(t, c.tool("browser_run_code", map[string]any{"code": "return 6 * 7"}), "Result: 42")
	}
	other, err := one.StartRun(session.RunOptions{Code: "await page.locator('#never').click({ timeout: 0 })"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, c.fails("browser_run_code", map[string]any{"code": "return 1"}), "a script is running")
	other.Cancel()
	<-other.Done()
}

func running(s *session.Session) bool {
	runs := s.Runs()
	return len(runs) > 0 && runs[0].Info().Status == session.RunRunning
}

// TestSignedInFromTheStart keeps a sign-in in a profile, and starts with it.
func TestSignedInFromTheStart(t *testing.T) {
	s := startServer(t, func(o *session.Options, _ *web.Config) {
		keys, err := profiles.NewKeys(strings.Repeat("1", 64))
		if err != nil {
			t.Fatal(err)
		}
		if o.Store, err = store.Open(t.Context(), store.Options{Dir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = o.Store.Close() })
		o.Profiles, o.SecretKeys = profiles.New(o.Store, keys), keys
	})
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": s.base + "/demo/"})
	contains(t, c.tool("profile_list", nil), "no profile")
	c.tool("browser_evaluate", map[string]any{"function": "() => { document.cookie = 'who=ada; max-age=3600' }"})
	contains(t, c.tool("profile_save", map[string]any{"name": "ada"}), "1 cookies", `profile "ada"`)
	contains(t, c.fails("profile_save", map[string]any{"name": "ada"}), "name")
	contains(t, c.tool("profile_list", nil), "- ada: 1 cookies")
	c.tool("session_release", nil)
	contains(t, c.tool("session_create", map[string]any{
		"url": s.base + "/demo/", "profile": "ada", "extraHTTPHeaders": map[string]string{"X-A": "b"}, "blockAds": true, "deviceScaleFactor": 2, "region": "eu",
	}), "region has no effect")
	contains(t, c.tool("browser_evaluate", map[string]any{"function": "document.cookie + ' ' + devicePixelRatio"}), "who=ada 2")
	before := s.manager.List()[0].Info().ExpiresAt
	c.tool("session_extend", map[string]any{"timeout": 7_200_000})
	if after := s.manager.List()[0].Info().ExpiresAt; after.Sub(before).Minutes() < 80 {
		t.Errorf("it lived until %v, and lives until %v", before, after)
	}
	contains(t, c.fails("session_extend", map[string]any{"timeout": 1e12}), "timeout: must be between")
}

// TestEventsStartTheirCapture reads the events of a session that captures nothing.
func TestEventsStartTheirCapture(t *testing.T) {
	s, base := startServer(t, func(o *session.Options, _ *web.Config) { o.Capture = nil }), site(t)
	c := s.connect("", "", nil)
	made, err := s.manager.Create(t.Context(), session.CreateOptions{Capture: new(bool)})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, c.tool("events", map[string]any{"session": made.ID()}), "its creator does not want it")
	silent, err := s.manager.Create(t.Context(), session.CreateOptions{URL: base})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, c.tool("events", map[string]any{"session": silent.ID()}), "Recording has begun")
	browsertest.Until(t, "a navigation is recorded", func() bool { // a page that is busy for long learns late of the capture
		c.tool("browser_navigate", map[string]any{"session": silent.ID(), "url": base + "/other"})
		return strings.Contains(c.tool("events", map[string]any{"session": silent.ID(), "types": []string{"navigation"}, "wait": 10}), "/other")
	})
}
