package session

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
)

const pickerPage = `<style>*{margin:0;box-sizing:border-box}select,input,iframe,#host{position:absolute;left:10px;width:200px;height:30px;border:0}</style>
	<select id=one style="top:10px"><option value=a>Apple<optgroup label=More><option value=b>Banana<option value=c disabled>Cherry</optgroup><option value=a>Again</select>
	<select id=many multiple style="top:50px;height:90px"><option value=x selected>Ex<option value=y>Why<option value=z>Zed</select>
	<input id=date type=date min=2026-01-01 max=2026-12-31 style="top:150px"><input id=time type=time style="top:190px"><input id=local type=datetime-local style="top:230px">
	<input id=month type=month style="top:270px"><input id=week type=week style="top:310px"><input id=color type=color style="top:350px">
	<input id=list list=words style="top:390px"><datalist id=words><option value=alpha><option value=alps label=Mountains><option value=beta></datalist>
	<div id=host style="top:430px"></div><iframe style="top:470px" srcdoc="<style>*{margin:0;border:0}</style><select id=framed style='width:100px;height:30px'><option>1<option>2</select>"></iframe>
	<script>var log = []
	host.attachShadow({mode: 'open'}).innerHTML = '<select id=deep style="width:200px;height:30px"><option>in<option>out</select>'
	function hear(on) { for (const type of ['input', 'change', 'keydown']) on.addEventListener(type, e => log.push(type + ':' + (e.composedPath()[0].id || '-') + ':' + (e.key || e.composedPath()[0].value))) }
	hear(window); hear(host.shadowRoot.querySelector('select')); document.querySelector('iframe').onload = e => hear(e.target.contentWindow)</script>`

// remote evaluates an expression in the page that is shown.
func remote(t *testing.T, s *Session, expression string) string {
	t.Helper()
	ctx := browsertest.Context(t, expression)
	w, err := s.shown().page.MainFrame().World(ctx, browser.WorldMain)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.Call(ctx, browser.CallOptions{Function: "() => String(" + expression + ")", ByValue: true})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(string(res.Value), `"`)
}

func (v *viewer) opened(what string) SelectMessage {
	v.t.Helper()
	return await(v, what, func(m SelectMessage) bool { return !m.Closed })
}

func (v *viewer) shut(id string) {
	v.t.Helper()
	await(v, "the end of "+id, func(m SelectMessage) bool { return m.ID == id && m.Closed })
}

func (v *viewer) key(t *testing.T, epoch uint64, key, code string, modifiers int) {
	t.Helper()
	for _, event := range []string{"down", "up"} {
		if err := v.Key(Key{Event: event, Key: key, Code: code, Modifiers: modifiers}, Stamp{Epoch: epoch}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPickers opens pickers that Chromium would draw over a page, and chooses
// values.
func TestPickers(t *testing.T) {
	url := widgetSite(t, map[string]string{"/": pickerPage})
	s := borrow(t, url)
	v, other := join(t, s, RoleControl), join(t, s, RoleView)
	v.picture("picture")
	epoch := v.control(t)
	ctx := browsertest.Context(t, "choose")
	choose := func(m SelectMessage, values ...string) {
		t.Helper()
		if err := v.Select(ctx, m.ID, values); err != nil {
			t.Fatalf("choose %v: %v", values, err)
		}
		v.shut(m.ID)
	}
	log := func(want string) {
		t.Helper()
		if got := remote(t, s, "log.splice(0)"); got != want {
			t.Errorf("the page received %q, want %q", got, want)
		}
	}

	v.press(t, epoch, 50, 20)
	m := v.opened("select")
	if m.Kind != "select" || m.Multiple || m.Inline || m.Rect.X != 10 || m.Rect.Y != 10 || m.Rect.Width != 200 || m.Rect.Height != 30 || len(m.Options) != 4 {
		t.Fatalf("described as %+v %+v", m, m.Description)
	}
	values := make([]string, len(m.Options))
	for i, o := range m.Options {
		values[i] = o.Value + "/" + o.Label + "/" + o.Group
		if o.Selected != (i == 0) || o.Disabled != (i == 2) {
			t.Errorf("option %d: %+v", i, o)
		}
	}
	if want := []string{"a/Apple/", "b/Banana/More", "c/Cherry/More", "a#3/Again/"}; !slices.Equal(values, want) {
		t.Errorf("options %q, want %q", values, want)
	}
	if got := other.opened("select, for who looks on"); got.ID != m.ID {
		t.Errorf("another viewer was told of %s", got.ID)
	}
	if err := other.Select(ctx, m.ID, []string{"b"}); !errors.Is(err, ErrRole) {
		t.Errorf("a viewer chose: %v", err)
	}
	if err := v.Select(ctx, "sel_none", []string{"b"}); err == nil {
		t.Error("chose in nothing")
	}
	if got := remote(t, s, "document.querySelectorAll(':open').length + document.activeElement.id"); got != "0one" {
		t.Errorf("Chromium's own popup: %s", got)
	}
	choose(m, "b")
	other.shut(m.ID)
	log("input:one:b,change:one:b")
	v.key(t, epoch, "ArrowUp", "ArrowUp", 0)
	s.until(t, "log.length == 3")
	log("keydown:one:ArrowUp,input:one:a,change:one:a")

	// By keyboard; the present value, an impossible value, and no value.
	v.key(t, epoch, "ArrowDown", "ArrowDown", 1)
	m = v.opened("select by keyboard")
	choose(m, "a")
	v.key(t, epoch, " ", "Space", 0)
	m = v.opened("select by space")
	if err := v.Select(ctx, m.ID, []string{"c"}); err == nil || !strings.Contains(err.Error(), "cannot be chosen") {
		t.Errorf("chose what is disabled: %v", err)
	}
	v.key(t, epoch, "Enter", "Enter", 0)
	m = v.opened("select by Enter")
	if err := v.Select(ctx, m.ID, nil); err != nil {
		t.Error(err)
	}
	v.shut(m.ID)
	log("keydown:one:ArrowDown,keydown:one: ,keydown:one:Enter")
	v.key(t, epoch, "Enter", "Enter", 0)
	m = v.opened("again")
	choose(m, "a#3")
	if got := remote(t, s, "one.selectedIndex"); got != "3" {
		t.Errorf("chose option %s of two with one value", got)
	}
	remote(t, s, "log.splice(0)")

	// A list that the page shows by itself.
	v.press(t, epoch, 50, 90)
	m = v.opened("list of several")
	if !m.Multiple || !m.Inline || !m.Options[0].Selected {
		t.Errorf("list of several: %+v", m.Description)
	}
	choose(m, "y", "z")
	if got := remote(t, s, "[...many.selectedOptions].map(o => o.value)"); got != "y,z" {
		t.Errorf("several chosen: %s", got)
	}
	remote(t, s, "log.splice(0)")

	for _, c := range []struct {
		kind      string
		y         float64
		bad, good string
	}{
		{"date", 165, "2027-01-01", "2026-05-04"}, {"time", 205, "25:00", "12:30"}, {"datetime-local", 245, "x", "2026-05-04T12:30"},
		{"month", 285, "2026-13", "2026-05"}, {"week", 325, "2026", "2026-W05"}, {"color", 365, "red", "#ff8800"},
	} {
		v.press(t, epoch, 198, c.y)
		m := v.opened(c.kind)
		if m.Kind != c.kind || m.Inline || m.Options == nil || c.kind == "date" && (m.Min != "2026-01-01" || m.Max != "2026-12-31") {
			t.Errorf("%s: %+v", c.kind, m.Description)
		}
		if c.kind != "color" { // Chromium replaces an invalid colour by black
			if err := v.Select(ctx, m.ID, []string{c.bad}); err == nil {
				t.Errorf("%s: chose %s", c.kind, c.bad)
			}
			v.shut(m.ID)
			v.press(t, epoch, 198, c.y)
			m = v.opened(c.kind + " again")
		}
		choose(m, c.good)
		id := map[string]string{"datetime-local": "local"}[c.kind]
		if id == "" {
			id = c.kind
		}
		log("input:" + id + ":" + c.good + ",change:" + id + ":" + c.good)
	}

	// A press beside the icon of a date opens nothing, so it is for fingers only.
	v.press(t, epoch, 50, 165)
	m = v.opened("date pressed beside its icon")
	if m.Kind != "date" || !m.Inline || m.Value != "2026-05-04" {
		t.Errorf("date pressed beside its icon: %+v", m.Description)
	}
	v.press(t, epoch, 198, 165)
	if now := v.opened("date that has opened"); now.ID != m.ID || now.Inline {
		t.Errorf("date that has opened: %+v", now.Description)
	}
	choose(m, "2026-06-01")
	log("input:date:2026-06-01,change:date:2026-06-01")

	// Suggestions change with what is typed.
	v.press(t, epoch, 50, 405)
	m = v.opened("suggestions")
	if m.Kind != "datalist" || len(m.Options) != 3 || m.Options[1].Label != "Mountains" {
		t.Errorf("suggestions: %+v", m.Description)
	}
	if err := v.Text(Text{Text: "alp"}, Stamp{Epoch: epoch}); err != nil {
		t.Fatal(err)
	}
	m2 := await(v, "fewer suggestions", func(m SelectMessage) bool { return !m.Closed && len(m.Options) == 2 })
	if m2.ID != m.ID || m2.Value != "alp" {
		t.Errorf("suggestions after typing: %+v", m2)
	}
	choose(m2, "alps")
	log("input:list:alp,input:list:alps,change:list:alps")

	v.press(t, epoch, 50, 445)
	m = v.opened("select in a shadow tree")
	remote(t, s, "log.splice(0)") // the field above, into which text was typed, lost the focus
	choose(m, "out")
	log("input:deep:out,input:deep:out,change:deep:out")
	s.until(t, "document.querySelector('iframe').contentDocument.readyState == 'complete'")
	v.press(t, epoch, 50, 485)
	m = v.opened("select in a frame")
	if m.Rect.X != 10 || m.Rect.Y != 470 {
		t.Errorf("place of the select in a frame: %+v", m.Rect)
	}
	choose(m, "2")
	log("input:framed:2,change:framed:2")

	// A picker ends when the field loses the focus, when control changes, and
	// when the page goes.
	v.press(t, epoch, 50, 20)
	m = v.opened("select")
	remote(t, s, "one.blur()")
	v.shut(m.ID)
	v.press(t, epoch, 50, 20)
	m = v.opened("select")
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	v.shut(m.ID)
	epoch = v.control(t)
	v.press(t, epoch, 50, 20)
	m = v.opened("select")
	if err := v.Navigate(ctx, 0, "goto", "about:blank"); err != nil {
		t.Fatal(err)
	}
	v.shut(m.ID)
}

// until waits until an expression is true in the page that is shown.
func (s *Session) until(t *testing.T, expression string) {
	t.Helper()
	browsertest.Until(t, expression, func() bool { return remote(t, s, expression) == "true" })
}

// TestPickerOfFieldThatStays opens a list whose page prevents hiding it: closing Chromium's own
// popup takes the focus away for a moment.
func TestPickerOfFieldThatStays(t *testing.T) {
	s := borrow(t, widgetSite(t, map[string]string{"/": `<style>*{margin:0}select{display:block!important;width:200px;height:30px}</style><select id=one><option>a<option>b</select>`}))
	v := join(t, s, RoleControl)
	v.picture("picture")
	epoch := v.control(t)
	for range 2 {
		v.press(t, epoch, 50, 20)
		m := v.opened("select")
		if got := remote(t, s, "document.querySelectorAll(':open').length + document.activeElement.id"); got != "0one" {
			t.Errorf("Chromium's own popup: %s", got)
		}
		if err := v.Select(browsertest.Context(t, "choose"), m.ID, []string{"b"}); err != nil {
			t.Fatal(err)
		}
		v.shut(m.ID)
	}
}

// TestScriptsPickers checks that viewers get no picker when a script presses a
// select, and that a person who then takes control gets it.
func TestScriptsPickers(t *testing.T) {
	url := widgetSite(t, map[string]string{"/": `<select id=one><option>a<option>b</select>`})
	s := borrow(t, url)
	v := join(t, s, RoleControl)
	if got := resultOf[string](t, startRun(t, s, `await page.click('select'); return await page.evaluate(() => document.querySelector('select:open')?.id ?? 'none')`)); got != "one" {
		t.Fatalf("a script's popup: %s", got)
	}
	if open := s.questions.Messages(true); len(open) > 0 {
		t.Errorf("viewers see what a script opened: %+v", open)
	}
	v.control(t)
	m := v.opened("what the script left open")
	if got := remote(t, s, "document.querySelectorAll(':open').length"); got != "0" || m.Kind != "select" {
		t.Errorf("%s open, %+v", got, m)
	}
}
