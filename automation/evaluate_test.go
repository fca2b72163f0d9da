package automation_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEvaluate(t *testing.T) {
	r := newRig(t)
	r.html(`<b id=x>hi</b><script>window.five = 5</script>`)
	for _, tt := range []struct {
		expression string
		isFunction bool
		arg        any
		want       string // the tagged value
	}{
		{"() => window.five", true, nil, `{"n":5}`},
		{"five + 1", false, nil, `{"n":6}`},
		{"let a = 2; a * 2", false, nil, `{"n":4}`},
		{"async () => { await 0; return 'x' }", true, nil, `{"s":"x"}`},
		{"function () { return this === window }", true, nil, `{"b":true}`},
		{"() => this === window", true, nil, `{"b":true}`},
		{"method(a) { return a + 1 }", true, params{"value": params{"n": 1}}, `{"n":2}`},
		{"async method(a) { return a + 1 }", true, params{"value": params{"n": 1}}, `{"n":2}`},
		{"a => a // done", true, params{"value": params{"s": "é😀"}}, `{"s":"é😀"}`},
		{"() => 7", false, nil, `{"v":"undefined"}`},
		{"function f() { return 8 }", false, nil, `{"v":"undefined"}`},
		{"() => undefined", true, nil, `{"v":"undefined"}`},
		{"() => null", true, nil, `{"v":"null"}`},
		{"() => [NaN, -0, 1n, new Date(0), /a/g, new Uint8Array([1])]", true, nil,
			`{"a":[{"v":"NaN"},{"v":"-0"},{"bi":"1"},{"d":"1970-01-01T00:00:00.000Z"},{"r":{"f":"g","p":"a"}},{"ta":{"b":"AQ==","k":"ui8"}}],"id":1}`},
		{"() => { const a = {}; a.self = a; return a }", true, nil, `{"id":1,"o":[{"k":"self","v":{"ref":1}}]}`},
		{"() => [document.body, window, document, () => 1]", true, nil, `{"a":[{"s":"ref: <Node>"},{"s":"ref: <Window>"},{"s":"ref: <Document>"},{"v":"undefined"}],"id":1}`},
		{"a => a.d.getTime() + a.list.length + a.big.toString()", true,
			params{"value": json.RawMessage(`{"o":[{"k":"d","v":{"d":"1970-01-01T00:00:00.005Z"}},{"k":"list","v":{"a":[{"n":1}],"id":2}},{"k":"big","v":{"bi":"12"}}],"id":1}`)}, `{"s":"612"}`},
		{"() => Object.keys(window).filter(k => /takeover|evaluator|inject/i.test(k))", true, nil, `{"a":[],"id":1}`},
		{"() => new DOMRect(1, 2, 3, 4)", true, nil, `{"id":2,"o":[{"k":"x","v":{"n":1}},{"k":"y","v":{"n":2}},{"k":"width","v":{"n":3}},{"k":"height","v":{"n":4}},{"k":"top","v":{"n":2}},{"k":"right","v":{"n":4}},{"k":"bottom","v":{"n":6}},{"k":"left","v":{"n":1}}]}`},
	} {
		p := params{"expression": tt.expression, "isFunction": tt.isFunction}
		if tt.arg != nil {
			p["arg"] = tt.arg
		}
		var got struct{ Value any }
		if err := r.call("frame.evaluate", p, &got); err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		equal(t, tt.expression, got.Value, json.RawMessage(tt.want))
	}
	for _, tt := range []struct{ expression, want string }{
		{"() => { throw new TypeError('bad') }", "TypeError: bad\n    at <anonymous>:…"},
		{"() => Promise.reject(new Error('later'))", "Error: later\n…"},
		{"() => { throw 'text' }", "text"},
		{"() => nothing", "ReferenceError: nothing is not defined\n…"},
		{"() => { return }} ", "SyntaxError: …"},
	} {
		err := r.call("frame.evaluate", params{"expression": tt.expression, "isFunction": true}, nil)
		if err == nil || !like(err.Error(), tt.want) || strings.Contains(err.Error(), "evaluator:") {
			t.Errorf("%s: %v", tt.expression, err)
		}
	}
}

func TestEvaluateUnderPolicy(t *testing.T) {
	s := site(t, map[string]string{"/": `<meta http-equiv="Content-Security-Policy" content="script-src 'none'; require-trusted-types-for 'script'"><p>x</p>`})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL + "/"}, nil)
	equal(t, "function", r.value("frame.evaluate", params{"expression": "() => document.title + 1", "isFunction": true}), params{"s": "1"})
	r.do("frame.waitForFunction", params{"expression": "() => performance.now() > 50", "isFunction": true, "timeout": 5000}, nil)
	r.do("frame.waitForFunction", params{"expression": "document.querySelector('p').textContent === 'x'", "isFunction": false, "timeout": 5000}, nil)
	equal(t, "text", r.value("frame.textContent", params{"selector": "p", "timeout": 1000}), "x")
}

func TestHandles(t *testing.T) {
	r := newRig(t)
	r.html(`<ul><li>1</li><li>2</li></ul>`)
	var h, obj, prop struct {
		Handle, Preview string
		Element         bool
	}
	r.do("frame.evaluateHandle", params{"expression": "() => document.querySelector('ul')", "isFunction": true}, &h)
	if !h.Element || h.Preview != "JSHandle@node" {
		t.Errorf("element: %+v", h)
	}
	equal(t, "evaluate on it", r.value("handle.evaluate", params{"handle": h.Handle, "expression": "(e, n) => e.children.length + n", "isFunction": true, "arg": params{"value": params{"n": 1}}}), params{"n": 3})
	equal(t, "as an argument", r.value("frame.evaluate", params{"expression": "({e}) => e.tagName", "isFunction": true,
		"arg": params{"value": json.RawMessage(`{"o":[{"k":"e","v":{"h":0}}],"id":1}`), "handles": []string{h.Handle}}}), params{"s": "UL"})
	equal(t, "read", r.value("handle.textContent", params{"handle": h.Handle, "timeout": 1000}), "12")
	equal(t, "below it", r.value("handle.textContent", params{"handle": h.Handle, "selector": "li >> nth=1", "timeout": 1000}), "2")
	r.do("frame.evaluateHandle", params{"expression": "() => ({a: 1, b: [2], c: 'x'})", "isFunction": true}, &obj)
	equal(t, "json", r.value("handle.jsonValue", params{"handle": obj.Handle}),
		json.RawMessage(`{"id":1,"o":[{"k":"a","v":{"n":1}},{"k":"b","v":{"a":[{"n":2}],"id":2}},{"k":"c","v":{"s":"x"}}]}`))
	r.do("handle.getProperty", params{"handle": obj.Handle, "name": "c"}, &prop)
	equal(t, "property", prop.Preview, "x")
	equal(t, "primitive", r.value("handle.jsonValue", params{"handle": prop.Handle}), params{"s": "x"})
	var props struct {
		Properties []struct{ Name, Preview string }
	}
	r.do("handle.getProperties", params{"handle": obj.Handle}, &props)
	equal(t, "properties", props.Properties, []map[string]string{{"Name": "a", "Preview": "1"}, {"Name": "b", "Preview": "Array(1)"}, {"Name": "c", "Preview": "x"}})
	var all struct{ Handles []struct{ Handle string } }
	r.do("frame.querySelectorAll", params{"selector": "li"}, &all)
	equal(t, "all", len(all.Handles), 2)
	equal(t, "eval on all", r.value("frame.evalOnSelectorAll", params{"selector": "li", "expression": "l => Array.isArray(l) && l.map(e => e.textContent).join()", "isFunction": true}), params{"s": "1,2"})
	equal(t, "eval on one", r.value("frame.evalOnSelector", params{"selector": "li", "expression": "e => e.textContent", "isFunction": true}), params{"s": "1"})
	var none struct{ Handle *string }
	r.do("frame.querySelector", params{"selector": "p"}, &none)
	if none.Handle != nil {
		t.Error("a handle of nothing")
	}
	r.eval("document.querySelector('ul').remove()")
	if err := r.call("handle.click", params{"handle": h.Handle, "timeout": 1000}, nil); err == nil || !strings.HasPrefix(err.Error(), "Element is not attached to the DOM") {
		t.Errorf("click on what was removed: %v", err)
	}
	r.do("handle.dispose", params{"handle": h.Handle}, nil)
	if err := r.call("handle.jsonValue", params{"handle": h.Handle}, nil); err == nil || err.Error() != "Target page, context or browser has been closed" {
		t.Errorf("after dispose: %v", err)
	}
}

func TestWaiting(t *testing.T) {
	r := newRig(t)
	r.html(`<div id=d></div><script>setTimeout(()=>{d.innerHTML='<p>new</p>'; window.ready={n:1}}, 150); setTimeout(()=>d.remove(), 600)</script>`)
	var h struct{ Handle string }
	r.do("frame.waitForSelector", params{"selector": "p", "strict": true, "timeout": 3000}, &h)
	equal(t, "the element found", r.value("handle.evaluate", params{"handle": h.Handle, "expression": "e => e.textContent", "isFunction": true}), params{"s": "new"})
	r.do("frame.waitForFunction", params{"expression": "() => window.ready", "isFunction": true, "timeout": 3000}, &h)
	equal(t, "the function's value", r.value("handle.jsonValue", params{"handle": h.Handle}), json.RawMessage(`{"id":1,"o":[{"k":"n","v":{"n":1}}]}`))
	r.do("frame.waitForFunction", params{"expression": "() => window.ready", "isFunction": true, "polling": 20, "timeout": 3000}, nil)
	r.do("frame.waitForSelector", params{"selector": "p", "state": "detached", "timeout": 3000}, nil)
	err := r.call("frame.waitForSelector", params{"selector": "#none", "timeout": 200}, nil)
	if want := "Timeout 200ms exceeded.\nCall log:\n  - waiting for locator('#none') to be visible\n"; err == nil || err.Error() != want {
		t.Errorf("timeout: %v", err)
	}
	err = r.call("frame.waitForFunction", params{"expression": "() => false", "isFunction": true, "timeout": 200}, nil)
	if err == nil || err.Error() != "Timeout 200ms exceeded." {
		t.Errorf("timeout: %v", err)
	}
	err = r.call("frame.waitForFunction", params{"expression": "() => { throw new Error('no') }", "isFunction": true, "timeout": 200}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "Error: no") {
		t.Errorf("throws: %v", err)
	}
}
