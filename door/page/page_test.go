package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/control"
	"takeover/door/doortest"
	"takeover/session"
)

func TestMain(m *testing.M) { doortest.Main(m) }

const form = `<title>Form</title>
<form onsubmit="event.preventDefault(); document.title = 'sent'">
<label>Name <input id=name></label>
<label>Sure <input id=sure type=checkbox></label>
<select id=size><option value=s>Small<option value=l>Large</select>
<input id=file type=file>
<button id=go>Send</button>
</form>
<p id=out onclick="this.textContent += event.detail" onmouseover="this.dataset.over = 1" oncontextmenu="this.textContent = 'menu'; return false">out</p>
<div style="height:3000px"></div><p id=end>end</p>
<iframe srcdoc="<button onclick='top.document.title = 1'>Inside</button>"></iframe>`

// TestPage drives a page with each call.
func TestPage(t *testing.T) {
	site := doortest.Site(t, map[string]string{"/": form, "/next": "<title>Next</title>next"})
	s := doortest.Session(t, session.CreateOptions{URL: site})
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write("a.txt", strings.NewReader("contents")); err != nil {
		t.Fatal(err)
	}
	ctx := browsertest.Context(t, "the page")
	p := Page{Program: doortest.Program(t, s, "test")}
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	equal := func(what string, got any, err error, want any) {
		t.Helper()
		if err != nil || got != want {
			t.Fatalf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	value := func(code string) string {
		t.Helper()
		raw, err := p.Evaluate(ctx, "", code, false, nil)
		must(code, err)
		return string(raw)
	}

	must("navigate", p.Navigate(ctx, site, "networkidle0"))
	must("fill", p.Fill(ctx, "#name", "Ann"))
	must("type", p.Type(ctx, "#name", "a", time.Millisecond))
	must("press", p.Press(ctx, "#name", "ArrowLeft"))
	must("press in the focused element", p.Press(ctx, "", "x"))
	equal("the name", value("document.querySelector('#name').value"), nil, `"Annxa"`)
	must("check", p.Check(ctx, "#sure", true))
	equal("checked", value("document.querySelector('#sure').checked"), nil, "true")
	must("uncheck", p.Check(ctx, "#sure", false))
	equal("unchecked", value("document.querySelector('#sure').checked"), nil, "false")
	chosen, err := p.Select(ctx, "#size", "Large")
	if err != nil || !slices.Equal(chosen, []string{"l"}) {
		t.Fatalf("select: %v, %v", chosen, err)
	}
	must("upload", p.Upload(ctx, "#file", "a.txt"))
	equal("uploaded", value("document.querySelector('#file').files[0].name"), nil, `"a.txt"`)
	must("click", p.Click(ctx, "#out", ClickOptions{}))
	must("double click", p.Click(ctx, "#out", ClickOptions{Count: 2}))
	text, err := p.Text(ctx, "#out")
	equal("clicks", text, err, "out112")
	must("click right", p.Click(ctx, "#out", ClickOptions{Button: "right"}))
	text, err = p.Text(ctx, "#out")
	equal("right click", text, err, "menu")
	must("hover", p.Hover(ctx, "#out"))
	equal("hovered", value("document.querySelector('#out').dataset.over"), nil, `"1"`)
	must("scroll", p.ScrollTo(ctx, "#end"))
	if value("scrollY") == "0" {
		t.Error("the page did not scroll")
	}
	must("move the mouse", p.MoveMouse(ctx, Point{X: 5, Y: 5}))
	must("wheel", p.Wheel(ctx, 0, -10_000))
	must("wait", p.WaitFor(ctx, "#none", "hidden"))
	must("settle", p.Settle(ctx))
	count, err := p.Count(ctx, "input")
	equal("count", count, err, 3)

	// A reference from a snapshot is a target, also within a frame.
	yaml, err := p.Snapshot(ctx, SnapshotOptions{})
	must("snapshot", err)
	refs := regexp.MustCompile(`button "(Send|Inside)".*\[ref=(\w+)\]`).FindAllStringSubmatch(yaml, -1)
	if len(refs) != 2 {
		t.Fatalf("the snapshot has the references %v:\n%s", refs, yaml)
	}
	must("click a reference", p.Click(ctx, refs[0][2], ClickOptions{}))
	title, err := p.Title(ctx)
	equal("title", title, err, "sent")
	must("click a reference in a frame", p.Click(ctx, refs[1][2], ClickOptions{}))
	title, err = p.Title(ctx)
	equal("title", title, err, "1")
	if small, err := p.Snapshot(ctx, SnapshotOptions{Target: "form", Depth: 1}); err != nil || len(small) >= len(yaml) {
		t.Errorf("a small snapshot: %v\n%s", err, small)
	}

	for _, o := range []ScreenshotOptions{{}, {Format: "jpeg", Quality: 50}, {FullPage: true}, {Target: "#go"}} {
		picture, err := p.Screenshot(ctx, o)
		must("screenshot", err)
		config, format, err := image.DecodeConfig(bytes.NewReader(picture))
		if err != nil || (format == "jpeg") != (o.Format == "jpeg") || o.FullPage != (config.Height > 3000) || (o.Target != "") != (config.Height < 100) {
			t.Errorf("%+v gave a %s of %dx%d, %v", o, format, config.Width, config.Height, err)
		}
	}

	must("navigate", p.Navigate(ctx, site+"/next", ""))
	content, err := p.Content(ctx)
	if err != nil || !strings.Contains(content, "<title>Next</title>") {
		t.Errorf("content %q, %v", content, err)
	}
	must("back", p.Back(ctx))
	title, err = p.Title(ctx)
	equal("title after going back", title, err, "Form")
	must("forward", p.Forward(ctx))
	must("reload", p.Reload(ctx))
	title, err = p.Title(ctx)
	equal("title after going forward", title, err, "Next")
	if err := p.Click(ctx, "#none", ClickOptions{}); err == nil {
		t.Error("clicked nothing")
	}
}

// TestPageTimesOut checks both times of an operation: its own, and the caller's,
// which includes waiting for a person.
func TestPageTimesOut(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{URL: doortest.Site(t, map[string]string{"/": form})})
	p := Page{Program: doortest.Program(t, s, "test"), Timeout: 50 * time.Millisecond}
	err := p.Click(t.Context(), "#none", ClickOptions{})
	var named interface{ ErrorName() string }
	if !errors.As(err, &named) || named.ErrorName() != "TimeoutError" || !strings.Contains(err.Error(), "waiting for locator('#none')") {
		t.Errorf("no element: %v", err)
	}
	p.Timeout = 0
	leave := doortest.Person(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := p.Fill(ctx, "#name", "x"); !errors.Is(err, control.ErrWaited) {
		t.Errorf("beside a person: %v", err)
	}
	leave()
	if err := p.Fill(t.Context(), "#name", "x"); err != nil {
		t.Errorf("after the person: %v", err)
	}
	p.Tab = 99
	if err := p.Fill(t.Context(), "#name", "x"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("no tab: %v", err)
	}
}

// TestValues sends values to a page, and gets them back.
func TestValues(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := Page{Program: doortest.Program(t, s, "test")}
	for _, given := range []string{
		`null`, `true`, `0`, `-1.5`, `9007199254740991`, `"a \"b\" <c> \u2028"`, `[]`, `{}`, `[[1],{"a":[null,{"b":"c"}]}]`,
	} {
		got, err := p.Evaluate(t.Context(), "", "x => x", true, json.RawMessage(given))
		var want, back any
		if json.Unmarshal([]byte(given), &want) != nil || json.Unmarshal(got, &back) != nil || err != nil {
			t.Errorf("%s gave %s, %v", given, got, err)
			continue
		}
		if a, b := encode(t, want), encode(t, back); a != b {
			t.Errorf("%s came back as %s", a, b)
		}
	}
	for code, want := range map[string]string{
		"undefined": "null", "NaN": "null", "-0": "0", "10n": `"10"`, "/a/g": `"/a/g"`, "new Error('x')": `"Error: x"`, "new Date(0)": `"1970-01-01T00:00:00.000Z"`,
		"new URL('http://a/')": `"http://a/"`, "new Uint8Array([1])": `"AQ=="`, "new Uint8Array([1]).buffer": `"AQ=="`,
		"({a: undefined, b: 1})":                        `{"b":1}`,
		"(() => { const a = [1]; return [a, a] })()":    `[[1],[1]]`,
		"(() => { const a = {}; a.a = a; return a })()": `{"a":null}`,
	} {
		if got, err := p.Evaluate(t.Context(), "", code, false, nil); err != nil || string(got) != want {
			t.Errorf("%s gave %s, %v, want %s", code, got, err, want)
		}
	}
	bomb := "(() => { let a = ['xxxxxxxxxxxxxxxx']; for (let i = 0; i < 40; i++) a = [a, a]; return a })()"
	if _, err := p.Evaluate(t.Context(), "", bomb, false, nil); !errors.Is(err, errLargeValue) {
		t.Errorf("a value that refers to itself 2^40 times gave %v", err)
	}
	if got, err := p.Evaluate(t.Context(), "body", "(e, x) => e.tagName + x", true, 1); err != nil || string(got) != `"BODY1"` {
		t.Errorf("with an element: %s, %v", got, err)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
