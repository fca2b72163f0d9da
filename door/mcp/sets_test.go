package mcp_test

import (
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
)

const canvasPage = `<!doctype html><title>Canvas</title><style>body{margin:0}</style><canvas id=c width=400 height=300></canvas><p id=out></p>
<button>Pay</button><ul><li>Apples<li>Pears</ul><label>Amount <input value=42></label><label><input type=checkbox checked> Agree</label>
<script>
const said = [];
const say = text => { said.push(text); document.querySelector('#out').textContent = said.slice(-4).join(' ') };
for (const type of ['mousedown', 'mouseup', 'dblclick', 'wheel'])
  c.addEventListener(type, e => say(type + '@' + e.clientX + ',' + e.clientY));
let moves = 0;
c.addEventListener('mousemove', e => { if (e.buttons) moves++ });
fetch('/api/prices').then(async r => say('prices ' + r.status + ' ' + await r.text()), () => say('prices failed'));
</script>`

// TestHoldTool holds another program, lets an action pass and lets all go on.
func TestHoldTool(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{"/": `<title>Form</title><input aria-label=Name><input aria-label=Town>`})
	c, other := s.connect("?tools=core,hold", "", nil), s.connect("?tools=core,code", "", nil)
	contains(t, c.fails("session_hold", map[string]any{"action": "hold"}), "session")
	made := c.tool("session_create", map[string]any{"url": base})
	id := strings.Fields(made)[1]
	contains(t, c.fails("session_hold", map[string]any{"action": "pause"}), "action: must be")
	contains(t, c.fails("session_hold", map[string]any{"action": "pass"}), "no such action waits")
	contains(t, c.tool("session_hold", map[string]any{"action": "hold"}), "Programs are held; 0 actions wait.")
	typed := make(chan string, 1)
	go func() {
		typed <- other.tool("browser_type", map[string]any{"session": id, "target": "input >> nth=0", "text": "Ada"})
	}()
	browsertest.Until(t, "what waits", func() bool {
		return strings.Contains(c.tool("session_hold", map[string]any{"action": "status"}), "frame.fill")
	})
	contains(t, c.tool("session_hold", map[string]any{"action": "pass"}), "Programs are held; 0 actions wait.")
	<-typed
	contains(t, c.tool("session_hold", map[string]any{"action": "go_on"}), "Programs go on.")
}

// TestMouseTools acts at positions of a canvas.
func TestMouseTools(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{"/": canvasPage})
	c := s.connect("?tools=core,code,mouse", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	c.tool("browser_snapshot", nil)
	contains(t, c.tool("browser_mouse_click_xy", map[string]any{"x": 20, "y": 30}), "mousedown@20,30 mouseup@20,30")
	contains(t, c.tool("browser_mouse_click_xy", map[string]any{"x": 40, "y": 30, "doubleClick": true}), "dblclick@40,30")
	contains(t, c.tool("browser_mouse_drag_xy", map[string]any{"startX": 10, "startY": 10, "endX": 210, "endY": 60}), "mousedown@10,10 mouseup@210,60")
	contains(t, c.tool("browser_evaluate", map[string]any{"function": "moves > 5"}), "Result: true")
	c.tool("browser_mouse_move_xy", map[string]any{"x": 50, "y": 60})
	c.tool("browser_mouse_down", nil)
	contains(t, c.tool("browser_mouse_up", nil), "mousedown@50,60 mouseup@50,60")
	contains(t, c.tool("browser_mouse_wheel", map[string]any{"deltaY": 20}), "wheel@50,60")
	contains(t, c.fails("browser_mouse_down", map[string]any{"button": "fourth"}), "button: must be")
}

// TestEmulationTools changes what a page runs on.
func TestEmulationTools(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{"/": "<title>Here</title>"})
	c := s.connect("?tools=core,code,input,emulate", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	result := func(code, want string) {
		t.Helper()
		contains(t, c.tool("browser_evaluate", map[string]any{"function": code}), "Result: "+want)
	}
	c.tool("browser_resize", map[string]any{"width": 390, "height": 844})
	result("innerWidth + 'x' + innerHeight", `"390x844"`)
	c.tool("browser_emulate", map[string]any{"colorScheme": "dark", "reducedMotion": "reduce", "media": "print"})
	result("['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)', 'print'].map(q => matchMedia(q).matches).join()", `"true,true,true"`)
	c.tool("browser_emulate", map[string]any{"geolocation": map[string]any{"latitude": 52.5, "longitude": 13.4}})
	result("() => new Promise((ok, no) => navigator.geolocation.getCurrentPosition(p => ok(p.coords.latitude + ' ' + p.coords.longitude), no))", `"52.5 13.4"`)
	c.tool("browser_emulate", map[string]any{"network": "Offline"})
	contains(t, c.fails("browser_navigate", map[string]any{"url": base}), "ERR_INTERNET_DISCONNECTED")
	c.tool("browser_emulate", map[string]any{"network": "none", "cpu": 2, "headers": []string{"X-A: b"}})
	contains(t, c.tool("browser_navigate", map[string]any{"url": base}), "Here")
	for args, want := range map[string]map[string]any{
		"network: must be one of": {"network": "5G"}, "cpu: must be between": {"cpu": 99}, "headers[0]": {"headers": []string{"none"}},
	} {
		contains(t, c.fails("browser_emulate", want), args)
	}
	contains(t, c.fails("browser_resize", map[string]any{"width": 1, "height": 1}), "must be between")
	c.tool("browser_navigate", map[string]any{"url": base + "/#two"})
	contains(t, c.tool("browser_navigate_back", nil), "Page: Here – "+base+"/\n")
	contains(t, c.tool("browser_navigate_forward", nil), "#two")
	contains(t, c.tool("browser_reload", nil), "#two")
	contains(t, c.tool("browser_pdf_save", map[string]any{"filename": "here.pdf"}), "here.pdf")
	contains(t, c.tool("session_files", map[string]any{"action": "read", "name": "here.pdf", "base64": true, "length": 5}), "JVBERi0")
	contains(t, c.tool("browser_close", nil), "about:blank")
}

// TestStorageTools reads and changes cookies and storage, and restores them.
func TestStorageTools(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{"/": "<title>Stored</title>"})
	c := s.connect("?tools=core,code,storage", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	c.tool("browser_cookie_set", map[string]any{"name": "theme", "value": "dark"})
	c.tool("browser_cookie_set", map[string]any{"name": "other", "value": "1", "domain": "shop.example", "httpOnly": true})
	contains(t, c.tool("browser_evaluate", map[string]any{"function": "document.cookie"}), "theme=dark")
	contains(t, c.tool("browser_cookie_list", map[string]any{"domain": "www.shop.example"}), `"other"`, `"httpOnly":true`)
	contains(t, c.tool("browser_cookie_get", map[string]any{"name": "theme"}), `"dark"`)
	for _, area := range []string{"localstorage", "sessionstorage"} {
		c.tool("browser_"+area+"_set", map[string]any{"key": "k", "value": "v of " + area})
		contains(t, c.tool("browser_"+area+"_get", map[string]any{"key": "k"}), "v of "+area)
		contains(t, c.tool("browser_"+area+"_list", nil), `{"k":"v of `+area)
	}
	c.tool("browser_storage_state", map[string]any{"filename": "state.json"})
	c.tool("browser_cookie_delete", map[string]any{"name": "theme"})
	contains(t, c.fails("browser_cookie_delete", map[string]any{"name": "theme"}), "there is no cookie")
	contains(t, c.tool("browser_cookie_get", map[string]any{"name": "theme"}), "No such cookie among the browser's 1")
	c.tool("browser_cookie_clear", nil)
	contains(t, c.tool("browser_cookie_list", nil), "the browser's 0")
	c.tool("browser_localstorage_delete", map[string]any{"key": "k"})
	c.tool("browser_sessionstorage_clear", nil)
	contains(t, c.tool("browser_localstorage_list", nil), "{}")
	c.tool("browser_set_storage_state", map[string]any{"filename": "state.json"})
	c.tool("browser_navigate", map[string]any{"url": base})
	contains(t, c.tool("browser_localstorage_get", map[string]any{"key": "k"}), "v of localstorage")
	contains(t, c.tool("browser_cookie_list", nil), "theme", "other")
	c.tool("session_files", map[string]any{"action": "write", "name": "bad.json", "content": "{"})
	contains(t, c.fails("browser_set_storage_state", map[string]any{"filename": "bad.json"}), "is not JSON")
	contains(t, c.fails("browser_cookie_set", map[string]any{"name": "", "value": "x"}), "name: is required")
}

// TestRouteAndVerifyTools answers requests, and checks what the page shows then.
func TestRouteAndVerifyTools(t *testing.T) {
	s := startServer(t, nil)
	base := doortest.Site(t, map[string]string{"/": canvasPage})
	c := s.connect("?tools=core,routes,verify", "", nil)
	c.tool("session_create", map[string]any{"url": base})
	contains(t, c.tool("browser_route_list", nil), "No requests are answered")
	c.tool("browser_route", map[string]any{"pattern": "**/api/*", "status": 404})
	c.tool("browser_route", map[string]any{"pattern": "**/api/prices", "body": "[7]", "headers": []string{"X-A: b"}})
	open := func(want string) {
		t.Helper()
		c.tool("browser_navigate", map[string]any{"url": base})
		contains(t, c.tool("browser_verify_text_visible", map[string]any{"text": want}), "is visible")
	}
	open("prices 200 [7]")
	contains(t, c.tool("browser_route_list", nil), "**/api/*: 404", "**/api/prices: 200, 3 bytes")
	c.tool("browser_route", map[string]any{"pattern": "**/api/prices", "abort": true})
	open("prices failed")
	c.tool("browser_unroute", map[string]any{"pattern": "**/api/prices"})
	open("prices 404")
	c.tool("browser_unroute", nil)
	contains(t, c.fails("browser_unroute", map[string]any{"pattern": "**/x"}), "there is no route")
	contains(t, c.fails("browser_route", map[string]any{"pattern": "**", "status": 99}), "status: must be")
	contains(t, c.fails("browser_route", map[string]any{"pattern": "{", "body": ""}), "pattern:")

	contains(t, c.tool("browser_verify_element_visible", map[string]any{"role": "button", "accessibleName": "Pay"}), "is visible")
	contains(t, c.fails("browser_verify_element_visible", map[string]any{"role": "link", "accessibleName": "Pay"}), `the link "Pay" is not visible`)
	contains(t, c.fails("browser_verify_element_visible", map[string]any{"role": "link]", "accessibleName": "Pay"}), "role: must be")
	contains(t, c.tool("browser_verify_list_visible", map[string]any{"target": "ul", "items": []string{"Apples", "Pears"}}), "all 2")
	contains(t, c.fails("browser_verify_list_visible", map[string]any{"target": "ul", "items": []string{"Apples", "Plums"}}), `it has not "Plums"`, "Pears")
	contains(t, c.tool("browser_verify_value", map[string]any{"target": "label:has-text('Amount') >> input", "value": "42"}), `"42"`)
	contains(t, c.tool("browser_verify_value", map[string]any{"target": "input[type=checkbox]", "type": "checkbox", "value": "true"}), "true")
	contains(t, c.fails("browser_verify_value", map[string]any{"target": "label:has-text('Amount') >> input", "value": "43"}), `the value is "42"`)
	contains(t, c.tool("browser_generate_locator", map[string]any{"target": "button"}), "page.getByRole('button', { name: 'Pay' })")
}

// TestAllSets offers everything to those who ask for it.
func TestAllSets(t *testing.T) {
	s := startServer(t, nil)
	count := func(query string) int {
		t.Helper()
		list, err := s.connect(query, "", nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Tools)
	}
	usual, all := count(""), count("?tools=all")
	if got := count("?tools=default,mouse"); got != usual+6 || all < usual+30 || count("?tools=default") != usual {
		t.Errorf("%d tools, with the mouse %d, all %d", usual, got, all)
	}
	resp, body := s.post("?tools=none", `{}`, nil)
	if resp != 400 || !strings.Contains(body, "hold, default and all") {
		t.Errorf("%d %s", resp, body)
	}
}
