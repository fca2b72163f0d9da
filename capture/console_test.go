package capture_test

import (
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
)

func TestConsole(t *testing.T) {
	r := record(t, capture.Config{Console: true})
	p := browsertest.Page(t)
	for _, c := range []struct{ name, script, level, text, args string }{
		{"plain", `console.log("a", 1, true, null, undefined, NaN, 10n)`, "log", "a 1 true null undefined NaN 10n", `["a",1,true,null,"undefined","NaN","10n"]`},
		{"info", `console.info("i")`, "info", "i", `["i"]`},
		{"debug", `console.debug("d")`, "debug", "d", `["d"]`},
		{"warn", `console.warn("w")`, "warn", "w", `["w"]`},
		{"format", `console.log("%s is %d%% %cbold", "x", 5, "color:red", "rest")`, "log", "x is 5% bold rest", `["%s is %d%% %cbold","x",5,"color:red","rest"]`},
		{"object", `console.log({a: 1, s: "x", n: null, l: [1, 2], f() {}})`, "log", `{a: 1, s: "x", n: null, l: Array(2), f: [Function]}`, `[{"a":1,"s":"x","n":null,"l":"Array(2)","f":"[Function]"}]`},
		{"list", `console.log([1, "b", {c: 1}])`, "log", `[1, "b", Object]`, `[[1,"b","Object"]]`},
		{"circle", `{const o = {name: "o"}; o.self = o; console.log(o)}`, "log", `{name: "o", self: Object}`, `[{"name":"o","self":"Object"}]`},
		{"getter", `console.log({get boom() { window.touched = true; throw new Error("called") }})`, "log", `{boom: [Getter]}`, `[{"boom":"[Getter]"}]`},
		{"surrogate", `console.log("x\ud800y")`, "log", "x\uFFFDy", "[\"x\uFFFDy\"]"},
		{"function", `console.log(function foo(a) { return a }, () => 1, class A {})`, "log", "[Function: foo] [Function] [Function]", `["[Function: foo]","[Function]","[Function]"]`},
		{"map", `console.log(new Map([["k", 1]]), new Set([2]))`, "log", `Map(1) {k => 1} Set(1) {2}`, `[[["k","1"]],["2"]]`},
		{"table", `console.table([{a: 1}])`, "log", `[{a: 1}]`, `[[{"a":1}]]`},
		{"secret", `console.log({user: "me", password: "hunter2"})`, "log", `{user: "me", password: "[REDACTED]"}`, `[{"user":"me","password":"[REDACTED]"}]`},
	} {
		p.Eval(c.script, nil)
		e, data := r.await(capture.TypeConsoleLog, func(e capture.Event, _ map[string]any) bool { return e.TargetID == string(p.ID) })
		if data["level"] != c.level || data["text"] != c.text || !strings.Contains(string(e.Data), `"args":`+c.args) {
			t.Errorf("%s: got %s", c.name, e.Data)
		}
		if e.Category != capture.CategoryConsole || e.FrameID != string(p.ID) || e.CDPSessionID == "" || e.CaptureSessionID == "" || e.TS == 0 {
			t.Errorf("%s: got %s", c.name, e.JSON())
		}
	}
	var touched bool
	if p.Eval(`!!window.touched`, &touched); touched {
		t.Error("a getter was called")
	}
}

func TestErrors(t *testing.T) {
	r := record(t, capture.Config{Console: true})
	base := site{pages: map[string]string{
		"/":       `<script src="/err.js"></script>`,
		"/err.js": "console.error('bad', {a: 1});\naddEventListener('unhandledrejection', () => setTimeout(() => {\n  throw new TypeError('late');\n}));\nPromise.reject(new Error('nobody'));\nconsole.assert(1 > 2, 'math');",
	}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	for _, c := range []struct {
		source, text string
		line, column float64
	}{
		{capture.SourceConsoleError, "bad {a: 1}", 1, 9},
		{capture.SourceConsoleError, "Assertion failed: math", 6, 9},
		{capture.SourceUnhandledRejection, "Error: nobody", 5, 16},
		{capture.SourceWindowOnError, "TypeError: late", 3, 9},
	} {
		e, data := r.await(capture.TypeConsoleError, nil)
		if data["source"] != c.source || !strings.Contains(data["text"].(string), c.text) || data["line"] != c.line || data["column"] != c.column || data["url"] != base+"/err.js" {
			t.Errorf("%s: got %s", c.text, e.Data)
		}
		if stack, _ := data["stack_trace"].([]any); len(stack) == 0 || e.URL != base+"/" {
			t.Errorf("%s: no stack or URL in %s", c.text, e.JSON())
		}
	}
}

// TestHistoryIsLeftOut checks that console lines from before a capture are not
// part of it.
func TestHistoryIsLeftOut(t *testing.T) {
	p := browsertest.Page(t)
	p.Eval(`console.log("before")`, nil)
	r := record(t, capture.Config{Console: true})
	p.Eval(`console.log("after")`, nil)
	if _, data := r.await(capture.TypeConsoleLog, nil); data["text"] != "after" {
		t.Fatalf("got %v", data)
	}
}

func TestHostileConsole(t *testing.T) {
	r := record(t, capture.Config{Console: true})
	p := browsertest.Page(t)
	p.Eval(`console.log("x".repeat(5_000_000)); console.log("\u0001".repeat(5_000_000)); console.log(...Array(5000).fill("y"))`, nil)
	for range 3 {
		if e, _ := r.await(capture.TypeConsoleLog, nil); !e.Truncated {
			t.Errorf("not cut: %.100s", e.JSON())
		}
	}
}

func TestWorkerIsCapturedFromItsFirstLine(t *testing.T) {
	r := record(t, capture.Config{Console: true, Network: true, Targets: true})
	base := site{pages: map[string]string{
		"/":        `<script>new Worker("/w.js")</script>`,
		"/w.js":    `console.log("first line"); fetch("/data.js"); setTimeout(() => { throw new Error("in worker") })`,
		"/data.js": "1",
	}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	e, _ := r.await(capture.TypeTargetCreated, field("type", "worker"))
	if worker := e.TargetID; worker == string(p.ID) || !strings.Contains(string(e.Data), base+"/w.js") {
		t.Errorf("got %s", e.JSON())
	}
	line, _ := r.await(capture.TypeConsoleLog, field("text", "first line"))
	if line.TargetID != e.TargetID || line.URL != base+"/w.js" {
		t.Errorf("got %s", line.JSON())
	}
	got := map[string]bool{}
	for len(got) < 2 {
		next, err := r.reader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if next.TargetID == e.TargetID && (next.Type == capture.TypeNetworkRequest && strings.Contains(string(next.Data), "data.js") || next.Type == capture.TypeConsoleError) {
			got[next.Type] = true
		}
	}
}
