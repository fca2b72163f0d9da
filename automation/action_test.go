package automation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// recorder collects in window.seen the events that the elements of a page
// receive.
const recorder = `<script>
window.seen = [];
for (const type of ['mousemove','mousedown','mouseup','click','dblclick','contextmenu','keydown','keypress','keyup','beforeinput','input','change','focusin'])
  document.addEventListener(type, e => {
    const line = [type, e.target.id || e.target.nodeName, 'trusted=' + e.isTrusted];
    if (e instanceof MouseEvent) line.push('button=' + e.button, 'buttons=' + e.buttons, 'detail=' + e.detail, 'mods=' + (e.altKey?'A':'') + (e.ctrlKey?'C':'') + (e.metaKey?'M':'') + (e.shiftKey?'S':''));
    if (e instanceof KeyboardEvent) line.push(e.key, e.code, e.keyCode, 'mods=' + (e.altKey?'A':'') + (e.ctrlKey?'C':'') + (e.metaKey?'M':'') + (e.shiftKey?'S':''));
    if (e instanceof InputEvent) line.push(e.inputType, e.data);
    window.seen.push(line.join(' '));
  }, true);
</script>`

func (r *rig) seen(only ...string) []string {
	r.Helper()
	list, _ := r.eval("window.seen").([]any)
	var out []string
	for _, s := range list {
		line := fmt.Sprint(s)
		for _, o := range only {
			if strings.HasPrefix(line, o+" ") {
				out = append(out, line)
			}
		}
	}
	return out
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func TestClickIsTrusted(t *testing.T) {
	r := newRig(t)
	r.html(recorder + `<button id=b>Sign in</button>`)
	r.do("frame.click", params{"selector": `internal:role=button[name="Sign in"i]`, "strict": true, "timeout": 5000}, nil)
	equal(t, "events", r.seen("mousedown", "mouseup", "click"), []string{
		"mousedown b trusted=true button=0 buttons=1 detail=1 mods=",
		"mouseup b trusted=true button=0 buttons=0 detail=1 mods=",
		"click b trusted=true button=0 buttons=0 detail=1 mods=",
	})
}

func TestPointerActions(t *testing.T) {
	const checkbox = `<label for=c>Agree</label><input id=c type=checkbox>`
	for _, tt := range []struct {
		name, html, op string
		params         params
		events         []string // the entries of seen, by their first word
		only           []string
	}{
		{"double click", `<b id=x>x</b>`, "dblclick", params{"selector": "b"}, []string{
			"mousedown x trusted=true button=0 buttons=1 detail=1 mods=", "click x trusted=true button=0 buttons=0 detail=1 mods=",
			"mousedown x trusted=true button=0 buttons=1 detail=2 mods=", "click x trusted=true button=0 buttons=0 detail=2 mods=",
			"dblclick x trusted=true button=0 buttons=0 detail=2 mods=",
		}, []string{"mousedown", "click", "dblclick"}},
		{"right button", `<b id=x>x</b>`, "click", params{"selector": "b", "button": "right"}, []string{
			"mousedown x trusted=true button=2 buttons=2 detail=1 mods=", "contextmenu x trusted=true button=2 buttons=2 detail=0 mods=",
		}, []string{"mousedown", "click", "contextmenu"}},
		{"modifiers", `<b id=x>x</b>`, "click", params{"selector": "b", "modifiers": []string{"Shift", "ControlOrMeta"}}, []string{
			"keydown BODY trusted=true Control ControlLeft 17 mods=C", "keydown BODY trusted=true Shift ShiftLeft 16 mods=CS",
			"click x trusted=true button=0 buttons=0 detail=1 mods=CS",
			"keyup BODY trusted=true Control ControlLeft 17 mods=S", "keyup BODY trusted=true Shift ShiftLeft 16 mods=",
		}, []string{"keydown", "keyup", "click"}},
		{"hover", `<b id=x>x</b>`, "hover", params{"selector": "b"}, []string{"mousemove x trusted=true button=0 buttons=0 detail=0 mods="}, []string{"mousemove", "click"}},
		{"trial", `<b id=x>x</b>`, "click", params{"selector": "b", "trial": true}, nil, []string{"click", "mouseup"}},
		{"check", checkbox, "check", params{"selector": "internal:label=\"Agree\"i"}, []string{
			"click c trusted=true button=0 buttons=0 detail=1 mods=", "input c trusted=true", "change c trusted=true",
		}, []string{"click", "input", "change"}},
		{"check what is checked", `<input id=c type=checkbox checked>`, "check", params{"selector": "input"}, nil, []string{"click"}},
		{"uncheck", `<input id=c type=checkbox checked>`, "uncheck", params{"selector": "input"}, []string{
			"click c trusted=true button=0 buttons=0 detail=1 mods=",
		}, []string{"click"}},
		{"below the fold", `<div style="height:3000px"></div><b id=x>x</b>`, "click", params{"selector": "b"}, []string{
			"click x trusted=true button=0 buttons=0 detail=1 mods=",
		}, []string{"click"}},
		{"under a sticky header", `<div style="position:sticky;top:0;height:500px;background:#eee">head</div><div style="height:2000px"></div><b id=x>x</b><div style="height:2000px"></div><script>scrollTo(0,2100)</script>`, "click",
			params{"selector": "b"}, []string{"click x trusted=true button=0 buttons=0 detail=1 mods="}, []string{"click"}},
		{"comes late and moves", `<script>setTimeout(()=>{const b=document.createElement('b');b.id='x';b.textContent='x';b.style.cssText='position:absolute;left:0;transition:left .2s';document.body.append(b);
			requestAnimationFrame(()=>requestAnimationFrame(()=>b.style.left='300px'))},100)</script>`, "click", params{"selector": "b"}, []string{
			"click x trusted=true button=0 buttons=0 detail=1 mods=",
		}, []string{"click"}},
		{"disabled at first", `<button id=x disabled>x</button><script>setTimeout(()=>x.disabled=false,150)</script>`, "click", params{"selector": "button"}, []string{
			"click x trusted=true button=0 buttons=0 detail=1 mods=",
		}, []string{"click"}},
		{"covered at first", `<button id=x>x</button><div id=o style="position:fixed;inset:0"></div><script>setTimeout(()=>o.remove(),200)</script>`, "click", params{"selector": "button"}, []string{
			"click x trusted=true button=0 buttons=0 detail=1 mods=",
		}, []string{"click"}},
		{"covered when the mouse comes", `<button id=x>x</button><script>x.onmousemove=()=>{ if(window.once) return; window.once=1; const o=document.createElement('div'); o.style.cssText='position:fixed;inset:0'; o.id='o'; document.body.append(o); setTimeout(()=>o.remove(),100)}</script>`,
			"click", params{"selector": "button"}, []string{"click x trusted=true button=0 buttons=0 detail=1 mods="}, []string{"click"}},
		{"replaced meanwhile", `<div id=p><button id=x disabled>x</button></div><script>setTimeout(()=>p.innerHTML='<button id=y>x</button>',150)</script>`, "click", params{"selector": "button"}, []string{
			"click y trusted=true button=0 buttons=0 detail=1 mods=",
		}, []string{"click"}},
		{"drag", `<b id=x>x</b><p id=y>y</p>`, "dragAndDrop", params{"sourceSelector": "b", "targetSelector": "p", "steps": 2}, []string{
			"mousemove x trusted=true button=0 buttons=0 detail=0 mods=", "mousedown x trusted=true button=0 buttons=1 detail=1 mods=",
			"mouseup y trusted=true button=0 buttons=0 detail=1 mods=",
		}, []string{"mousedown", "mouseup"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.html(recorder + tt.html)
			tt.params["timeout"] = 5000
			tt.params["strict"] = true
			r.do("frame."+tt.op, tt.params, nil)
			if tt.name == "drag" {
				tt.events = tt.events[1:]
			}
			equal(t, "events", r.seen(tt.only...), tt.events)
		})
	}
}

func TestPointerErrors(t *testing.T) {
	for _, tt := range []struct {
		name, html, op string
		params         params
		want           string // the error; … stands for text that may vary
	}{
		{"nothing there", ``, "click", params{"selector": `internal:role=button[name="Go"i]`}, "Timeout 2000ms exceeded.\nCall log:\n  - waiting for getByRole('button', { name: 'Go' })\n"},
		{"strict", `<b>1</b><b id=two>2</b>`, "click", params{"selector": "b"}, "Error: strict mode violation: locator('b') resolved to 2 elements:\n    1) <b>1</b> aka getByText('1')\n    2) <b id=\"two\">2</b> aka getByText('2')\n\nCall log:\n  - waiting for locator('b')\n"},
		{"hidden", `<button style="display:none">x</button>`, "click", params{"selector": "button"}, "Timeout 2000ms exceeded.\nCall log:\n  - waiting for locator('button')\n    - locator resolved to <button>x</button>\n  - attempting click action\n…element is not visible…"},
		{"covered", `<button>x</button><div id=o style="position:fixed;inset:0"></div>`, "click", params{"selector": "button"}, "Timeout 2000ms exceeded.\n…<div id=\"o\"></div> intercepts pointer events\n…"},
		{"force outside", `<div style="position:absolute;left:-500px">x</div>`, "click", params{"selector": "div", "force": true}, "Element is outside of the viewport\nCall log:\n…"},
		{"not a checkbox", `<div>x</div>`, "check", params{"selector": "div"}, "Error: Not a checkbox or radio button\n…"},
		{"radio", `<input type=radio checked>`, "uncheck", params{"selector": "input"}, "Cannot uncheck radio button. Radio buttons can only be unchecked by selecting another radio button in the same group.\n…"},
		{"stubborn", `<input type=checkbox onclick="return false">`, "check", params{"selector": "input"}, "Clicking the checkbox did not change its state\n…"},
		{"bad selector", ``, "click", params{"selector": "div >> foo=bar"}, "Unknown engine \"foo\" while parsing selector div >> foo=bar…"},
		{"bad css", ``, "click", params{"selector": "div["}, "…Unexpected token…while parsing css selector \"div[\"…"},
		{"fill a button", `<button>x</button>`, "fill", params{"selector": "button", "value": "x"}, "Error: Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role allowing [aria-readonly]\n…"},
		{"number", `<input type=number>`, "fill", params{"selector": "input", "value": "x"}, "Error: Cannot type text into input[type=number]\n…"},
		{"readonly", `<input readonly>`, "fill", params{"selector": "input", "value": "x"}, "Timeout 2000ms exceeded.\n…element is not editable…"},
		{"tap", `<b>x</b>`, "tap", params{"selector": "b"}, "The page does not support tap. Use hasTouch context option to enable touch support."},
		{"key", `<input>`, "press", params{"selector": "input", "key": "Foo"}, "Unknown key: \"Foo\"\n…"},
		{"unknown field", ``, "click", params{"selector": "b", "speed": 1}, "bad parameters: unknown field \"speed\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.html(tt.html)
			tt.params["timeout"] = 2000
			tt.params["strict"] = true
			err := r.call("frame."+tt.op, tt.params, nil)
			if err == nil {
				t.Fatal("no error")
			}
			if !like(err.Error(), tt.want) {
				t.Errorf("error:\n%s\nwant:\n%s", err, tt.want)
			}
		})
	}
}

// like matches a text against a pattern in which … stands for any text.
func like(s, pattern string) bool {
	parts := strings.Split(pattern, "…")
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for i, part := range parts[1:] {
		if i == len(parts)-2 && part == "" {
			return true
		}
		at := strings.Index(s, part)
		if at < 0 {
			return false
		}
		s = s[at+len(part):]
	}
	return s == ""
}
