package widget_test

import (
	"slices"
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/widget"
)

const fields = `<style>body{margin:0;height:3000px}iframe{border:0}</style>
	<div style="position:absolute;left:10px;top:10px;width:600px">
	<input id=text><input id=password type=password><input id=otp autocomplete=one-time-code inputmode=numeric><input id=card autocomplete="billing cc-number">
	<input id=email type=email><input id=mail autocomplete=email><input id=tel type=tel><input id=number type=number><input id=numeric inputmode=numeric>
	<input id=url type=url><input id=search type=search><input id=none inputmode=none><textarea id=area></textarea><div id=edit contenteditable>text</div>
	<input id=fixed readonly><input id=off disabled><input id=check type=checkbox><input id=date type=date><input id=masked style="-webkit-text-security:disc"><textarea id=veiled class=dots></textarea>
	<div id=hidden contenteditable class=dots>x</div><style>.dots{-webkit-text-security:circle}</style><a id=link href="#">link</a></div>
	<textarea id=lines style="position:absolute;left:10px;top:300px;width:200px;height:100px;font:20px/25px monospace;padding:5px;border:1px solid;box-sizing:border-box"></textarea>
	<input id=line style="position:absolute;left:10px;top:420px;width:300px;height:30px;font:20px monospace;padding:5px;border:1px solid;box-sizing:border-box">
	<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML='<input id=in type=search>'</script>`

// TestFieldAndForm checks what is reported about the surroundings of a field, also
// in a frame: the field, the boxes around it from the inside, and its text size.
func TestFieldAndForm(t *testing.T) {
	const form = `<body style="margin:0"><form style="position:absolute;left:100px;top:50px;width:300px;height:200px"><label style="display:block;width:220px">
		<input id=in style="width:200px;height:40px;margin:0;box-sizing:border-box;font-size:20px"></label></form>`
	r := start(t, map[string]string{"/": form, "/outer": `<body style="margin:0"><iframe src="http://localhost:PORT/" style="position:absolute;left:30px;top:20px;width:600px;height:400px;border:0"></iframe>`})
	for _, c := range []struct {
		path string
		x, y float64
		page []widget.Rect // what is around the form
	}{
		{"/", 0, 0, []widget.Rect{{X: 0, Y: 0, Width: 1280, Height: 0}}},
		{"/outer", 30, 20, []widget.Rect{{X: 30, Y: 20, Width: 600, Height: 0}}},
	} {
		r.open(c.path)
		frame := r.page.MainFrame()
		if c.path == "/outer" {
			frame = frame.Children()[0]
		}
		r.eval(frame, "document.getElementById('in').focus()")
		var got widget.Focus
		r.until("the focus on "+c.path, func() bool { got = r.tracker.Focus(r.page); return got.Kind == "text" })
		want := [3]widget.Rect{{X: 100 + c.x, Y: 50 + c.y, Width: 200, Height: 40}, {X: 100 + c.x, Y: 50 + c.y, Width: 220, Height: got.Around[0].Height}, {X: 100 + c.x, Y: 50 + c.y, Width: 300, Height: 200}}
		if have := [3]widget.Rect{got.Element, got.Around[0], got.Around[1]}; have != want || got.Text != 20 {
			t.Errorf("%s: got %+v, want %+v", c.path, got, want)
		}
		if !slices.Equal(got.Around[2:3], c.page) || got.Around[3] != (widget.Rect{}) {
			t.Errorf("%s: around the form: %+v", c.path, got.Around[2:])
		}
	}
}

// TestFocus moves the focus through fields of all kinds.
func TestFocus(t *testing.T) {
	r := start(t, map[string]string{"/": fields, "/other": "<title>O</title>"})
	r.open("/")
	main := r.page.MainFrame()
	for _, c := range []struct{ id, kind string }{
		{"text", "text"}, {"password", "password"}, {"otp", "otp"}, {"card", "card"}, {"email", "email"}, {"mail", "email"}, {"fixed", ""}, {"tel", "tel"},
		{"number", "number"}, {"numeric", "numeric"}, {"check", ""}, {"url", "url"}, {"search", "search"}, {"date", ""}, {"none", "none"}, {"area", "multiline"},
		{"link", ""}, {"edit", "multiline"},
		{"masked", "password"}, {"veiled", "password"}, {"hidden", "password"},
	} {
		r.eval(main, "document.getElementById('"+c.id+"').focus()")
		r.focus(c.id, c.kind, nil)
	}
	r.eval(main, "host.shadowRoot.getElementById('in').focus()")
	r.focus("inside of a shadow tree", "search", nil)

	// The caret, in a single line and in several lines: a character is about 12
	// px wide.
	at := func(x, y float64) func(widget.Rect) bool {
		return func(got widget.Rect) bool {
			return got.Width == 1 && abs(got.X-x) <= 7 && abs(got.Y+got.Height/2-y) <= 7
		}
	}
	r.eval(main, "line.focus(); line.value = 'abcdefghij'; line.setSelectionRange(0, 0)")
	r.focus("caret before a line", "text", at(16, 435))
	r.eval(main, "line.setSelectionRange(5, 5)")
	r.focus("caret in a line", "text", at(16+60, 435))
	r.eval(main, "line.setSelectionRange(10, 10)")
	r.focus("caret behind a line", "text", at(16+120, 435))
	r.eval(main, "lines.focus(); lines.value = 'one\\ntwo\\nthree'; lines.setSelectionRange(5, 5)")
	r.focus("caret in the second line", "multiline", at(16+12, 306+12+25))
	r.eval(main, "lines.setSelectionRange(13, 13)")
	r.focus("caret behind the last line", "multiline", at(16+60, 306+12+50))
	r.eval(main, "lines.value += '\\n'; lines.setSelectionRange(14, 14)")
	r.focus("caret in an empty last line", "multiline", at(16, 306+12+75))
	r.eval(main, "lines.setSelectionRange(13, 13)")
	r.eval(main, "scrollTo(0, 100)")
	r.focus("caret after scrolling", "multiline", at(16+60, 206+12+50))
	r.eval(main, "edit.focus(); getSelection().collapse(edit.firstChild, 0)")
	r.focus("caret in an element", "multiline", func(got widget.Rect) bool { return got.Width == 0 && got.Height > 5 })

	r.eval(main, "edit.remove()")
	r.focus("its removal", "", nil)
	r.eval(main, "line.focus()")
	r.focus("focus again", "text", nil)
	r.eval(main, "line.style.display = 'none'")
	r.focus("hidden", "", nil)
	r.eval(main, "text.focus()")
	r.focus("focus again", "text", nil)
	r.open("/other")
	r.focus("another document", "", nil)

	// document.open removes all listeners.
	r.eval(main, "document.open(); document.write('<input autofocus type=email>'); document.close()")
	r.focus("written document", "email", nil)
}

func abs(v float64) float64 { return max(v, -v) }

// TestFramesFocus puts the focus in a frame of the same process and in one of
// another process.
func TestFramesFocus(t *testing.T) {
	r := start(t, map[string]string{
		"/":      `<style>body{margin:0;height:3000px}iframe{position:absolute;border:5px solid;width:500px;height:400px}</style><iframe name=out src="http://localhost:PORT/outer" style="left:100px;top:50px"></iframe><input id=own>`,
		"/outer": `<style>body{margin:0}iframe{position:absolute;border:0}</style><iframe name=in src="/leaf" style="left:30px;top:20px"></iframe>`,
		"/leaf":  `<style>body{margin:0}</style><input id=field type=tel style="position:absolute;left:7px;top:9px;width:150px;height:30px;box-sizing:border-box">`,
	})
	r.open("/")
	outer := r.page.MainFrame().Children()[0]
	leaf := outer.Children()[0]
	if !outer.HasTarget() || leaf.HasTarget() {
		t.Fatal("the frames are not where the test wants them")
	}
	// The caret of a tel field is found within the field, whose left edge is
	// known.
	inside := func(x, y float64) func(widget.Rect) bool {
		return func(got widget.Rect) bool {
			return got.X >= x && got.X < x+30 && got.Y >= y && got.Y+got.Height <= y+30
		}
	}
	r.cursor(100+5+30+7+20, 50+5+20+9+15, "text") // until the frame is drawn, clicks on it go to the page
	r.click(100+5+30+7+20, 50+5+20+9+15)
	r.focus("focus in a frame", "tel", inside(142, 84))
	r.eval(r.page.MainFrame(), "scrollTo(0, 40)")
	r.focus("the frame moved", "tel", inside(142, 44))
	r.eval(r.page.MainFrame(), "own.focus({preventScroll: true})")
	r.focus("focus of the main frame", "text", nil)
	r.click(100+5+30+7+20, 10+5+20+9+15)
	r.focus("focus in the frame again", "tel", inside(142, 44))
	r.eval(r.page.MainFrame(), "document.querySelector('iframe').remove()")
	r.focus("frame removed", "", nil)
}

// TestCursor moves the pointer.
func TestCursor(t *testing.T) {
	r := start(t, map[string]string{
		"/": `<style>body{margin:0}div,a,input,iframe{position:absolute;left:0;width:200px;height:40px;font:16px/40px sans-serif;border:0;margin:0;padding:0}</style>
			<a href="#" style="top:0">link</a><div style="top:50px">Text of some length.</div><div style="top:100px;cursor:grab"></div>
			<input style="top:150px"><div style="top:200px;cursor:url(none.png) 2 2, crosshair"></div><div style="top:250px;user-select:none">Text of some length.</div>
			<iframe style="top:300px" src="http://localhost:PORT/frame"></iframe><div style="top:350px;cursor:help"></div>`,
		"/frame": `<html style="cursor:wait">`,
	})
	r.open("/")
	for _, c := range []struct {
		x, y float64
		want string
	}{
		{10, 20, "pointer"}, {10, 70, "text"}, {190, 70, "default"}, {10, 120, "grab"}, {10, 170, "text"}, {10, 220, "crosshair"}, {10, 270, "default"},
		{10, 370, "help"}, {10, 320, "wait"}, {10, 370, "help"}, {10, 20, "pointer"},
	} {
		r.cursor(c.x, c.y, c.want)
	}
	r.open("/frame")
	if got := r.tracker.Cursor(r.page); got != "default" && got != "wait" {
		t.Errorf("cursor of another document: %q", got)
	}
}

// TestContexts expects agents in popups and in other contexts, out of reach of
// the pages.
func TestContexts(t *testing.T) {
	r := start(t, map[string]string{"/": "<input id=field>", "/popup": "<input autofocus type=url>"})
	r.open("/")
	ctx := browsertest.Context(t, "page of another context")
	other, err := r.model.NewContext(ctx, browser.ContextOptions{})
	must(t, err)
	page, err := other.NewPage(ctx)
	must(t, err)
	r.page = page
	r.open("/")
	r.eval(page.MainFrame(), "field.focus(); if (typeof takeoverReport + typeof takeoverAgent != 'undefinedundefined') throw Error('seen')")
	r.focus("focus in another context", "text", nil)
	r.eval(page.MainFrame(), "window.open('/popup')")
	r.until("focus in a popup", func() bool {
		for _, p := range other.Pages() {
			if p != page && r.tracker.Focus(p).Kind == "url" {
				return true
			}
		}
		return false
	})
}
