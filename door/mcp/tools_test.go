package mcp_test

import (
	"bytes"
	"context"
	"image"
	_ "image/jpeg" // pictures in answers
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/door/doortest"
	"takeover/session"
)

const formPage = `<!doctype html><title>Form</title>
<h1>Form</h1>
<label>Name <input id=name></label>
<label>Notes <textarea id=notes></textarea></label>
<label><input type=checkbox id=agree> I agree</label>
<label>Country <select id=country><option>France<option>Germany</select></label>
<label>File <input type=file id=file onchange="out(this.files[0].name)"></label>
<button id=choose onclick="file.click()">Choose</button>
<button id=ask onclick="out(confirm('Really?'))">Ask</button>
<button id=prompt onclick="out(prompt('Name?', 'nobody'))">Prompt</button>
<button id=hover onmouseover="out('hovered')">Hover</button>
<button id=double ondblclick="out('twice')">Double</button>
<button id=log onclick="console.log('a line of the page'); setTimeout(() => { throw new Error('an uncaught one') })">Log</button>
<button id=fetch onclick="fetch('/missing').then(r => out(r.status))">Fetch</button>
<a href=/other target=_blank>Other</a>
<div id=from draggable=true ondragstart="event.dataTransfer.setData('text', 'x')">Drag me</div>
<div id=to style="width:100px;height:100px" ondragover="event.preventDefault()" ondrop="event.preventDefault(); out('dropped')">Drop here</div>
<p id=out></p>
<div style="height:3000px"></div><p>The end</p>
<script>
function out(text) { document.querySelector('#out').textContent = text }
addEventListener('keydown', e => { if (e.key === 'F2') out('F2 with ' + document.activeElement.id) })
addEventListener('scroll', () => document.title = 'at ' + (scrollY > 0 ? 'the end' : 'the top'))
</script>`

// site serves the pages of these tests.
func site(t *testing.T) string {
	return doortest.Site(t, map[string]string{
		"/": formPage, "/other": "<title>Other</title><h1>Another page</h1>",
		"/big":   "<title>Big</title>" + strings.Repeat("<ul aria-label=list>"+strings.Repeat("<li><a href=/other>an item of the list</a></li>", 40)+"</ul>", 30),
		"/frame": `<title>Framed</title><h1>Outside</h1><iframe src=/inside title=inner></iframe>`, "/inside": `<button onclick="this.textContent='pressed'">Inside</button>`,
		"/tall": `<title>Tall</title><div style="height:3000px;background:linear-gradient(red,blue)"></div>`,
		"/csp":  `<meta http-equiv=Content-Security-Policy content="script-src 'none'"><title>CSP</title><p>strict</p>`,
	})
}

// TestActions uses each tool that acts, and checks what the page got.
func TestActions(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	page := c.tool("browser_snapshot", nil)
	ref := func(text string) string { return refIn(t, page, text) }
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"browser_type", map[string]any{"target": ref("Name"), "text": "Ada"}, `textbox "Name"`},
		{"browser_type", map[string]any{"target": "#notes", "text": "one", "slowly": true}, "one"},
		{"browser_fill_form", map[string]any{"fields": []map[string]any{
			{"target": "#name", "value": "Grace"}, {"target": ref("I agree"), "value": "true"}, {"target": "label=Country", "value": "Germany"},
		}}, "fields[2]"}, // label= is no engine
		{"browser_fill_form", map[string]any{"fields": []map[string]any{
			{"target": "#name", "value": "Grace"}, {"target": ref("I agree"), "value": "true"}, {"target": "#country", "value": "Germany"},
		}}, "[checked]"},
		{"browser_select_option", map[string]any{"target": "#country", "values": []string{"France"}}, "France"},
		{"browser_hover", map[string]any{"target": ref(`button "Hover"`)}, "hovered"},
		{"browser_click", map[string]any{"target": "[ref=" + ref(`button "Double"`) + "]", "doubleClick": true}, "twice"},
		{"browser_press_key", map[string]any{"target": "#notes", "key": "F2"}, "F2 with notes"},
		{"browser_drag", map[string]any{"target": "#from", "to": "#to"}, "dropped"},
		{"browser_scroll", map[string]any{"direction": "down"}, "at the end"},
		{"browser_scroll", map[string]any{"target": "#name"}, "at the top"},
		{"browser_click", map[string]any{"target": "#ask"}, `confirm "Really?"`},
		{"browser_snapshot", nil, "browser_handle_dialog"},
		{"browser_click", map[string]any{"target": "#name"}, "browser_handle_dialog"},
		{"browser_handle_dialog", map[string]any{"accept": true}, "true"},
		{"browser_handle_dialog", map[string]any{"accept": true}, "no dialog is open"},
		{"browser_click", map[string]any{"target": "#prompt"}, `prompt "Name?"`},
		{"browser_handle_dialog", map[string]any{"accept": true, "text": "Linus"}, "Linus"},
		{"browser_evaluate", map[string]any{"function": "confirm('From code?')"}, `confirm "From code?"`},
		{"browser_handle_dialog", map[string]any{"accept": false}, "Nothing changed"},
		{"browser_evaluate", map[string]any{"function": "() => ({ a: [1, 'x', null], b: new Date(0) })"}, `Result: {"a":[1,"x",null],"b":"1970-01-01T00:00:00.000Z"}`},
		{"browser_evaluate", map[string]any{"function": "e => e.value", "target": "#name"}, `Result: "Grace"`},
		{"browser_evaluate", map[string]any{"function": "document.title"}, `Result: "at the top"`},
		{"browser_evaluate", map[string]any{"function": "() => { throw new Error('no such thing') }"}, "no such thing"},
		{"browser_run_code", map[string]any{"code": "async (page) => { console.log('hello'); return await page.locator('#name').inputValue() }"}, `Result: "Grace"`},
		{"browser_run_code", map[string]any{"code": "return args.x + 1", "args": map[string]any{"x": 41}}, "Result: 42"},
		{"browser_run_code", map[string]any{"code": "\nnull.x"}, "at line 2"},
		{"browser_wait_for", map[string]any{"text": "drag me"}, "Page:"},
		{"browser_wait_for", map[string]any{"textGone": "never there"}, "Page:"},
		{"browser_wait_for", map[string]any{"target": "#nowhere", "timeout": 50}, "Timeout 50ms exceeded"},
		{"browser_wait_for", map[string]any{"url": "**/nowhere", "timeout": 50}, "the address is still " + base},
		{"browser_wait_for", map[string]any{"settled": true}, "Page:"},
		{"browser_wait_for", map[string]any{"time": 0.01}, "Page:"},
		{"browser_find", map[string]any{"text": "i AGREE"}, "checkbox"},
		{"browser_find", map[string]any{"text": "/^button .D/"}, "Double"},
		{"browser_find", map[string]any{"text": "nothing like this"}, "No element"},
		{"browser_click", map[string]any{"target": "text=Other"}, "A tab opened; there are 2"},
		{"browser_tabs", nil, "(shown): Other"},
		{"browser_tabs", map[string]any{"action": "select", "tab": 1}, "tab 1 of 2"},
		{"browser_tabs", map[string]any{"action": "close", "tab": 2}, "A tab closed; there are 1"},
		{"browser_tabs", map[string]any{"action": "new", "url": base + "/other"}, "Page: Other"},
		{"browser_tabs", map[string]any{"action": "close"}, "A tab closed"},
		{"browser_tabs", map[string]any{"action": "close", "tab": 99}, "there is no tab 99"},
		{"browser_click", map[string]any{"target": "button", "timeout": 500}, "Pass a ref"},
		{"browser_click", map[string]any{"target": "e9999", "timeout": 200}, "browser_snapshot"},
		{"browser_navigate", map[string]any{"url": base + "/other"}, "new to you"},
		{"browser_navigate_back", map[string]any{"snapshot": true}, `heading "Form"`},
		{"browser_navigate", map[string]any{"url": "http://127.0.0.1:1/"}, "ERR_UNSAFE_PORT"},
		{"browser_navigate", map[string]any{"url": "file:///etc/passwd"}, "Error"},
		{"browser_navigate", map[string]any{"url": base + "/csp", "snapshot": true}, "strict"},
		{"browser_evaluate", map[string]any{"function": "1 + 1"}, "Result: 2"},
		{"browser_navigate", map[string]any{"url": base + "/frame", "snapshot": true}, `button "Inside"`},
	} {
		text, _ := c.try(step.tool, step.args)
		if !strings.Contains(text, step.want) {
			t.Errorf("%s %v: no %q in:\n%s", step.tool, step.args, step.want, text)
		}
	}
	inside := c.tool("browser_snapshot", nil)
	contains(t, c.tool("browser_click", map[string]any{"target": refIn(t, inside, `button "Inside"`)}), "pressed")
}

// TestAnswerWaitsForDrawing clicks on what takes effect when the page draws next, which
// takes it long.
func TestAnswerWaitsForDrawing(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": doortest.Site(t, map[string]string{"/": `<title>Old</title><button onclick="requestAnimationFrame(draw)">Draw</button><script>
		function draw() {
			for (const began = performance.now(); performance.now() - began < 250;);
			document.title = 'Drawn'
		}</script>`})})
	contains(t, c.tool("browser_click", map[string]any{"target": "button"}), "Page: Drawn")
}

// TestUpload chooses files of the session, by the field and by the button that opens it.
func TestUpload(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	contains(t, c.fails("browser_file_upload", map[string]any{"target": "#file", "files": []string{"a.txt"}}), "a.txt")
	folder, err := s.manager.List()[0].Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Write("a.txt", strings.NewReader("content")); err != nil {
		t.Fatal(err)
	}
	c.tool("browser_snapshot", nil)
	contains(t, c.tool("browser_file_upload", map[string]any{"target": "#file", "files": []string{"a.txt"}}), "a.txt")
	if _, err := folder.Write("b.txt", strings.NewReader("content")); err != nil {
		t.Fatal(err)
	}
	contains(t, c.tool("browser_file_upload", map[string]any{"target": "#choose", "files": []string{"b.txt"}}), "b.txt")
	contains(t, c.fails("browser_file_upload", map[string]any{"target": "#name", "files": []string{"b.txt"}}), "opened no file chooser")
}

// TestDialogsOfOthers leaves dialogs to others when no action is under way, also after
// an action that was cancelled or interrupted.
func TestDialogsOfOthers(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	others := func() {
		t.Helper()
		contains(t, c.tool("browser_run_code", map[string]any{"code": "await page.evaluate(() => alert('x')); return 'went on'"}), "went on")
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "browser_click", Arguments: map[string]any{"target": "#nowhere"}})
		failed <- err
	}()
	c.tool("browser_snapshot", nil)
	cancel()
	<-failed
	c.tool("browser_hover", map[string]any{"target": "#hover"}) // after the cancelled action has ended
	others()
	contains(t, c.tool("browser_evaluate", map[string]any{"function": "confirm('first') + ' ' + confirm('second')"}), `"first"`)
	contains(t, c.tool("browser_handle_dialog", map[string]any{"accept": true}), `"second"`)
	c.tool("browser_handle_dialog", map[string]any{"accept": true})
	others()
}

// TestDialogElsewhere answers a dialog of a tab that is not shown, which an action in
// the shown one has opened.
func TestDialogElsewhere(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{
		"/":       `<title>First</title><button onclick="window.open('/second')">Open</button>`,
		"/second": `<title>Second</title><button onclick="out.textContent = opener.confirm('Sure?') ? 'it was yes' : 'it was no'">Ask</button><p id=out></p>`,
	})
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	c.tool("browser_click", map[string]any{"target": "button"})
	contains(t, c.tool("browser_wait_for", map[string]any{"url": "**/second"}), "tab 2 of 2")
	c.tool("browser_snapshot", nil)
	contains(t, c.tool("browser_click", map[string]any{"target": "button"}), `A dialog is open in tab 1: confirm "Sure?"`)
	contains(t, c.tool("browser_handle_dialog", map[string]any{"accept": true}), "it was yes")
	contains(t, c.fails("browser_handle_dialog", map[string]any{"accept": true}), "no dialog is open")
}

// TestHints says what can be done about an element that cannot be used, and nothing
// that is not so.
func TestHints(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{
		"/": `<title>Hints</title><button>One</button><button>Two</button><button disabled>Off</button><p>strict mode violation: aria-ref=</p>`,
	})
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	off := refIn(t, c.tool("browser_snapshot", nil), "Off")
	const several, gone = "The selector matches several elements", "The page has no element with this ref now"
	for target, want := range map[string]string{"button": several, "e9999": gone, off: "", "text=strict mode violation: aria-ref= >> b": ""} {
		args := map[string]any{"target": target, "timeout": 300}
		if want == gone {
			args["timeout"] = (10 * time.Minute).Milliseconds() // no other element gets the ref, so it is not waited for
		}
		text := c.fails("browser_click", args)
		for _, hint := range []string{several, gone} {
			if strings.Contains(text, hint) != (hint == want) {
				t.Errorf("%s: want the hint %q:\n%s", target, want, text)
			}
		}
	}
	contains(t, c.tool("browser_wait_for", map[string]any{"target": "button"}), "Page:") // one of several is enough
}

// TestDiagnose finds what is wrong with a page, in a session that ends afterwards.
func TestDiagnose(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{"/": "<title>Broken</title><script>undefined_function()</script><img src=/missing.png>"})
	c := s.connect("?tools=diagnose", "", nil)
	contains(t, c.tool("diagnose", map[string]any{"url": base, "problem": "the page is broken"}), "undefined_function", "findings", "→")
	contains(t, c.fails("diagnose", map[string]any{"url": "nonsense"}), "url")
	for _, one := range s.manager.List() {
		if !one.Status().Ended() {
			t.Errorf("the session %s goes on", one.ID())
		}
	}
}

// TestObserving reads the console, the requests and the events.
func TestObserving(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	c.tool("browser_snapshot", nil)
	contains(t, c.tool("browser_snapshot", nil), "backgroundEvents: none")
	contains(t, c.tool("browser_click", map[string]any{"target": "#log"}), "backgroundEvents:\n", "console.log: a line of the page", "an uncaught one")
	contains(t, c.tool("browser_console_messages", nil), "log: a line of the page", "uncaught Error: an uncaught one")
	if text := c.tool("browser_console_messages", map[string]any{"level": "error"}); strings.Contains(text, "a line of the page") {
		t.Errorf("only errors were asked for: %s", text)
	}
	contains(t, c.tool("browser_click", map[string]any{"target": "#fetch"}), "404")
	failed := c.tool("browser_network_requests", map[string]any{"failed": true})
	contains(t, failed, "GET "+base+"/missing 404")
	number, _, _ := strings.Cut(failed, ".")
	contains(t, c.tool("browser_network_requests", map[string]any{"detail": number}), "response 404", "request headers")
	contains(t, c.tool("events", map[string]any{"types": []string{"network_response"}}), "/missing", "network_response")
	contains(t, c.fails("events", map[string]any{"types": []string{"nonsense"}}), "no type of event")
	contains(t, c.tool("events", map[string]any{"since": 1_000_000}), "No such event")
	waited := make(chan string)
	go func() {
		text, _ := c.try("events", map[string]any{"types": []string{"custom_hello"}, "wait": 30})
		waited <- text
	}()
	s.addEvent("custom_hello")
	contains(t, <-waited, "custom_hello")
}

// TestRequestsWithSecrets sends a secret in a form: the request is shown without it.
func TestRequestsWithSecrets(t *testing.T) {
	const secret = "hunter2-in-a-form"
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	s.manager.List()[0].Monitor().Redactor().AddSecret(secret)
	c.tool("browser_evaluate", map[string]any{"function": "() => fetch('/missing', { method: 'POST', body: 'who=ada&pw=" + secret + "' }).then(r => r.status)"})
	list := c.tool("browser_network_requests", map[string]any{"url": "/missing"})
	contains(t, list, "POST "+base+"/missing 404")
	number, _, _ := strings.Cut(list, ".")
	detail := c.tool("browser_network_requests", map[string]any{"detail": number})
	contains(t, detail, "request body", "who=ada", "REDACTED")
	if strings.Contains(detail, secret) {
		t.Errorf("the secret is shown: %s", detail)
	}
}

// TestPictures takes pictures that fit a model; the whole of a large one is a file.
func TestPictures(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base + "/tall"})
	picture := func(args map[string]any) (image.Rectangle, string) {
		t.Helper()
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "browser_take_screenshot", Arguments: args})
		if err != nil || r.IsError {
			t.Fatalf("%v %s", err, textOf(r))
		}
		for _, content := range r.Content {
			if i, ok := content.(*sdk.ImageContent); ok {
				decoded, _, err := image.Decode(bytes.NewReader(i.Data))
				if err != nil {
					t.Fatal(err)
				}
				return decoded.Bounds(), textOf(r)
			}
		}
		t.Fatal("no picture")
		return image.Rectangle{}, ""
	}
	if b, text := picture(nil); b.Dx() != 1280 || b.Dy() != 720 || strings.Contains(text, "smaller") {
		t.Errorf("what is in view: %v %s", b, text)
	}
	b, text := picture(map[string]any{"fullPage": true})
	if b.Dy() > 1568 || b.Dx()*b.Dy() > 1_150_000 {
		t.Errorf("the whole page: %v", b)
	}
	contains(t, text, "made smaller", "screenshot.jpeg")
	if b, _ := picture(map[string]any{"target": "div"}); b.Dx()*b.Dy() > 1_150_000 {
		t.Errorf("an element: %v", b)
	}
}

// TestLargePages cuts what is large, says what is missing, and gives all of it on
// request.
func TestLargePages(t *testing.T) {
	s, base := startServer(t, nil), site(t)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base + "/big"})
	cut := c.tool("browser_snapshot", nil)
	contains(t, cut, "more", "all:true")
	all := c.tool("browser_snapshot", map[string]any{"all": true})
	if len(all) < 3*len(cut) || strings.Count(all, "an item of the list") < 1200 {
		t.Errorf("all has %d bytes, the cut one %d", len(all), len(cut))
	}
	list := refIn(t, cut, "list")
	part := c.tool("browser_snapshot", map[string]any{"target": list})
	if n := strings.Count(part, "an item of the list"); n != 40 {
		t.Errorf("one list has %d items:\n%.500s", n, part)
	}
	if selected := c.tool("browser_snapshot", map[string]any{"target": "ul >> nth=3"}); strings.Count(selected, "an item of the list") != 40 {
		t.Errorf("a selector shows:\n%.500s", selected)
	}
	c.tool("browser_hover", map[string]any{"target": refIn(t, part, "an item")}) // refs of a part are valid
	flat := c.tool("browser_snapshot", map[string]any{"depth": 1})
	if strings.Contains(flat, "listitem") || !strings.Contains(flat, "more") {
		t.Errorf("one level shows:\n%.500s", flat)
	}
	contains(t, c.tool("browser_evaluate", map[string]any{"function": "'x'.repeat(100000)"}), "are in the session's file result.json", "100002 bytes")
	folder, err := s.manager.List()[0].Files()
	if err != nil {
		t.Fatal(err)
	}
	if content, err := folder.Read("result.json", 1<<20); err != nil || len(content) != 100_002 {
		t.Errorf("the file has %d bytes: %v", len(content), err)
	}
	contains(t, c.tool("browser_find", map[string]any{"text": "item", "limit": 3}), "more")
}

// TestSessions chooses the session of a call.
func TestSessions(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	contains(t, c.fails("browser_snapshot", nil), "session_create")
	contains(t, c.tool("session_list", nil), "No session is live")
	contains(t, c.fails("browser_snapshot", map[string]any{"session": "nonsense"}), "there is no session", "session_list")
	other, err := s.manager.Create(t.Context(), session.CreateOptions{URL: s.base + "/demo/"})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, c.fails("browser_snapshot", nil), "you have created no session", "session_create", "session_list")
	contains(t, c.fails("session_release", nil), "you have created no session")
	if other.Status().Ended() {
		t.Fatal("a caller ended somebody else's session without naming it")
	}
	contains(t, c.tool("browser_snapshot", map[string]any{"session": other.ID()}), "/demo/")
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	contains(t, c.tool("browser_snapshot", nil), `button "Sign in"`) // the caller's own
	contains(t, c.tool("browser_snapshot", map[string]any{"session": other.ID()}), "/demo/")
	c.tool("session_create", nil)
	contains(t, c.fails("browser_snapshot", nil), "2 sessions of yours are live")
	contains(t, c.tool("session_list", nil), other.ID(), "/demo/login")
	c.tool("session_release", map[string]any{"session": other.ID()})
	contains(t, c.fails("browser_snapshot", map[string]any{"session": other.ID()}), "has ended", "session_create")
	contains(t, c.tool("session_list", map[string]any{"all": true}), "released")
	contains(t, c.fails("session_create", map[string]any{"timezone": "Nowhere"}), "timezone")
	contains(t, c.fails("session_create", map[string]any{"no_such": 1}), "no_such")
	contains(t, c.fails("session_create", map[string]any{"dimensions": map[string]any{"width": 1, "height": 1}}), "dimensions.width")
}

// TestPasswords keeps the contents of secret fields out of what a model reads, also if
// the page itself or the caller put them there.
func TestPasswords(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{
		"/": `<title>Secrets</title>
<label>Password <input id=password type=password value="from the  page"></label>
<label>Short <input type=password value=ab></label>
<label>Dots <input style="-webkit-text-security:disc" value="shown as dots"></label>
<label>Code <input autocomplete=one-time-code value="735012"></label>
<label><input type=checkbox> Keep <input type=password value="in a name"></label>
<div style="position:relative"><input type=password value="below another" aria-label=Covered><div style="position:absolute;inset:0;background:white"></div></div>
<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<input type=password value="in a shadow" aria-label=Shadow>'</script>
<label>Empty <input id=empty type=password></label>
<label>Name <input value=Ada></label><iframe src=/inside></iframe>`,
		"/inside": `<input type=password value="in a frame" aria-label=Inside><input value=Grace aria-label=Other>`,
	})
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	check := func(text string) {
		t.Helper()
		for _, secret := range []string{"from the", ": ab", "shown as dots", "735012", "in a name", "below another", "in a shadow", "in a frame", "typed by", "shown by the page"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in:\n%s", secret, text)
			}
		}
	}
	page := c.tool("browser_snapshot", nil)
	check(page)
	contains(t, page, `textbox "Name"`, ": Ada", ": Grace", `textbox "Password"`, `textbox "Inside"`, "[REDACTED]")
	check(c.tool("browser_snapshot", map[string]any{"target": "#password"}))
	check(c.tool("browser_find", map[string]any{"text": "textbox"}))
	check(c.tool("browser_type", map[string]any{"target": "#password", "text": "typed by the caller"}))
	contains(t, c.tool("browser_type", map[string]any{"target": "#password", "text": ""}), "Changes:", `textbox "Password"`)
	check(c.tool("browser_type", map[string]any{"target": "#password", "text": "typed by the caller", "snapshot": true}))
	c.tool("browser_evaluate", map[string]any{"function": "() => { document.querySelector('#empty').value = 'shown by the page'; document.querySelector('#empty').type = 'text' }"})
	check(c.tool("browser_snapshot", nil))
}
