package cdp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"strings"
	"testing"

	"takeover/door/doortest"
	"takeover/session"
)

// tracedPage is red while its secret field has the focus, then green, and says when it
// has shown a colour for a time: the others for longer than veilMargin.
const tracedPage = `<body style="margin:0;background:white"><input type=password style="position:fixed;left:0;top:0;width:200px;height:50px"><script>
const show = async (color, ms) => {
	document.body.style.background = color;
	for (const end = performance.now() + ms; performance.now() < end;) {
		await new Promise(requestAnimationFrame);
		document.body.style.border = (performance.now() % 20) + 'px solid ' + color; // another picture
	}
	console.log(color);
};
onload = () => show('white', 1500);
document.querySelector('input').onfocus = () => show('red', 300);
document.querySelector('input').onblur = () => show('lime', 1500);
</script>`

// TestTracesHideSecrets traces a page while a person is in a secret field of it. Pictures
// of that time are left out, and no others.
func TestTracesHideSecrets(t *testing.T) {
	for _, mode := range []string{"ReportEvents", "ReturnAsStream"} {
		t.Run(mode, func(t *testing.T) {
			s := doortest.Session(t, session.CreateOptions{})
			p := dial(t, serve(t, s, nil))
			page, _ := p.attach()
			p.call(page, "Runtime.enable", "", nil)
			p.call(page, "Tracing.start", fmt.Sprintf(`{"transferMode":%q,"streamCompression":"gzip","traceConfig":{"includedCategories":["devtools.timeline","disabled-by-default-devtools\u002escreenshot"]}}`, mode), nil)
			if got := p.refused(page, "Tracing.start", `{"categories":"`+pictureCategory+`"}`); got == "" {
				t.Error("a second trace was started")
			}
			p.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, doortest.Site(t, map[string]string{"/": tracedPage})), nil)
			p.event("Runtime.consoleAPICalled")
			v := person(t, s)
			control := until(t, v, "control", func(m session.ControlMessage) bool { return m.Holder.IsPerson() })
			press(t, v, control.Epoch, 20, 20)
			p.event("Runtime.consoleAPICalled")
			press(t, v, control.Epoch, 400, 400)
			p.event("Runtime.consoleAPICalled")
			events := p.endTrace(page, mode)

			seen := map[string]int{}
			for _, e := range events {
				if e.Name != "Screenshot" {
					seen["other events"]++
					continue
				}
				seen[colorOf(t, e.Args.Snapshot)]++
			}
			if seen["white"] == 0 || seen["lime"] == 0 || seen["red"] > 0 || seen["other events"] == 0 {
				t.Errorf("the trace has %v", seen)
			}
		})
	}
}

// TestTracesOfNewPagesHideSecrets begins a trace before the server shows a popup to
// people.
func TestTracesOfNewPagesHideSecrets(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	attached := func() (session string) {
		var e struct{ SessionID string }
		if err := json.Unmarshal(p.event("Target.attachedToTarget").Params, &e); err != nil {
			t.Fatal(err)
		}
		return e.SessionID
	}
	opener := attached()
	p.send(opener, "Runtime.evaluate", fmt.Sprintf(`{"expression":"void open('%s')","userGesture":true}`, doortest.Site(t, map[string]string{"/": tracedPage})))
	popup := attached()
	p.call(popup, "Tracing.start", `{"categories":"devtools.timeline,`+pictureCategory+`"}`, nil)
	p.call(popup, "Runtime.enable", "", nil)
	p.call(popup, "Runtime.runIfWaitingForDebugger", "", nil)
	p.event("Runtime.consoleAPICalled")
	v := person(t, s)
	control := until(t, v, "control", func(m session.ControlMessage) bool { return m.Holder.IsPerson() })
	press(t, v, control.Epoch, 20, 20)
	p.event("Runtime.consoleAPICalled")
	seen := map[string]int{}
	for _, e := range p.endTrace(popup, "ReportEvents") {
		if e.Name == "Screenshot" {
			seen[colorOf(t, e.Args.Snapshot)]++
		}
	}
	if seen["white"] == 0 || seen["red"] > 0 {
		t.Errorf("the trace has %v", seen)
	}
}

// TestTracesOfTabsHaveNoPictures: a tab's target does not say which page it shows.
func TestTracesOfTabsHaveNoPictures(t *testing.T) {
	p := dial(t, serve(t, doortest.Session(t, session.CreateOptions{}), nil))
	page, _ := p.attach()
	var tabs struct{ TargetInfos []struct{ TargetID string } }
	p.call("", "Target.getTargets", `{"filter":[{"type":"tab"}]}`, &tabs)
	var tab struct{ SessionID string }
	p.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q}`, tabs.TargetInfos[0].TargetID), &tab)
	p.call(page, "Runtime.enable", "", nil)
	p.call(tab.SessionID, "Tracing.start", `{"categories":"devtools.timeline,`+pictureCategory+`"}`, nil)
	p.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, doortest.Site(t, map[string]string{"/": tracedPage})), nil)
	p.event("Runtime.consoleAPICalled")
	events := p.endTrace(tab.SessionID, "ReportEvents")
	pictures := 0
	for _, e := range events {
		if e.Name == "Screenshot" {
			pictures++
		}
	}
	if pictures > 0 || len(events) == 0 {
		t.Errorf("%d of %d events are pictures", pictures, len(events))
	}
}

// TestCategoriesOfTraces names categories of traces. Those that may draw the page are
// refused, however they are written.
func TestCategoriesOfTraces(t *testing.T) {
	p := dial(t, serve(t, doortest.Borrow(t, ""), nil))
	page, _ := p.attach()
	for _, category := range []string{
		"disabled-by-default-cc.debug.display_items", "disabled-by-default-cc.debug.picture", "disabled-by-default-devtools.timeline.picture",
		"disabled-by-default-devtools.timeline.layers", "disabled-by-default-cc.*", "disabled-by-default-*", "disabled-by-default-devtools.screensho?", "disabled-by-default-unknown",
	} {
		for _, params := range []string{`{"categories":"devtools.timeline, ` + category + `"}`, `{"traceConfig":{"includedCategories":["` + strings.Replace(category, "-", `\u002d`, 1) + `"]}}`} {
			if got := p.refused(page, "Tracing.start", params); !strings.Contains(got, "it may show what the page draws") {
				t.Errorf("%s: %s", params, got)
			}
		}
	}
	p.call(page, "Tracing.start", `{"categories":"-*,devtools.timeline,v8.execute,disabled-by-default-devtools.timeline,disabled-by-default-v8.cpu_profiler,disabled-by-default-lighthouse"}`, nil)
	p.call(page, "Tracing.end", "", nil)
	p.event("Tracing.tracingComplete")
}

// TestTracesHaveNoKeys presses a key during traces of several categories.
func TestTracesHaveNoKeys(t *testing.T) {
	p := dial(t, serve(t, doortest.Borrow(t, ""), nil))
	page, _ := p.attach()
	p.refused(page, "Tracing.start", `{"traceConfig":null}`)
	for _, params := range []string{
		`{}`, `{"categories":"*"}`, `{"categories":"benchmark, latency"}`, `{"categories":"latency"}`, `{"categories":"lat*"}`, `{"categories":"devtools.timeline,disabled-by-default-devtools.timeline.inputs"}`,
		`{"traceConfig":{}}`, `{"traceConfig":{"includedCategories":["latency","*"]}}`, `{"traceConfig":{"includedCategories":["latency"]}}`, `{"traceConfig":{"includedCategories":["devtools.timeline","disabled-by-default-devtools.timeline.inputs"]}}`,
	} {
		p.call(page, "Tracing.start", params, nil)
		p.call(page, "Input.dispatchKeyEvent", `{"type":"keyDown","text":"7","key":"7","code":"Digit7","windowsVirtualKeyCode":55}`, nil)
		p.call(page, "Input.dispatchKeyEvent", `{"type":"keyUp","key":"7","code":"Digit7","windowsVirtualKeyCode":55}`, nil)
		p.send(page, "Tracing.end", "")
		for {
			ev := p.wait("the trace", func(m wire) bool { return m.Method == "Tracing.dataCollected" || m.Method == "Tracing.tracingComplete" })
			if ev.Method == "Tracing.tracingComplete" {
				break
			}
			for _, key := range []string{`"key_code":55`, `"Digit7"`} {
				if bytes.Contains(ev.Params, []byte(key)) {
					t.Errorf("%s: the trace has %s", params, key)
				}
			}
		}
	}
}

// TestTracesAreBounded records traces without closing their streams.
func TestTracesAreBounded(t *testing.T) {
	p := dial(t, serve(t, doortest.Borrow(t, ""), nil))
	page, target := p.attach()
	start := `{"transferMode":"ReturnAsStream","categories":"` + pictureCategory + `"}`
	for range maxTraces { // what is forgotten with its session does not count
		var at struct{ SessionID string }
		p.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q}`, target), &at)
		p.call(at.SessionID, "Tracing.start", start, nil)
		p.call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, at.SessionID), nil)
	}
	var complete struct{ Stream string }
	for range maxTraces {
		p.call(page, "Tracing.start", start, nil)
		p.call(page, "Tracing.end", "", nil)
		if err := json.Unmarshal(p.event("Tracing.tracingComplete").Params, &complete); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.refused(page, "Tracing.start", start); !strings.Contains(got, "IO.close") {
		t.Errorf("one more: %s", got)
	}
	p.call(page, "IO.close", fmt.Sprintf(`{"handle":%q}`, complete.Stream), nil)
	p.call(page, "Tracing.start", start, nil)
}

// traceEvent is an event of a trace.
type traceEvent struct {
	Name string
	Args struct{ Snapshot string }
}

// endTrace ends a trace and returns it.
func (p *peer) endTrace(page, mode string) (events []traceEvent) {
	p.t.Helper()
	p.send(page, "Tracing.end", "")
	decoded := func(raw []byte, into any) {
		p.t.Helper()
		if err := json.Unmarshal(raw, into); err != nil {
			p.t.Fatalf("%.200s: %v", raw, err)
		}
	}
	var complete struct{ Stream string }
	for done := false; !done; {
		ev := p.wait("the trace", func(m wire) bool { return m.Method == "Tracing.dataCollected" || m.Method == "Tracing.tracingComplete" })
		if done = ev.Method == "Tracing.tracingComplete"; done {
			decoded(ev.Params, &complete)
			break
		}
		if mode == "ReturnAsStream" {
			p.t.Error("the stream came as events")
		}
		var e struct{ Value []traceEvent }
		decoded(ev.Params, &e)
		events = append(events, e.Value...)
	}
	if mode == "ReportEvents" {
		return events
	}
	var all bytes.Buffer
	for {
		var part struct {
			Data          string
			Base64Encoded bool
			EOF           bool
		}
		p.call(page, "IO.read", fmt.Sprintf(`{"handle":%q,"size":100000}`, complete.Stream), &part)
		raw, err := base64.StdEncoding.DecodeString(part.Data)
		if err != nil || len(raw) > 100_000 {
			p.t.Fatalf("%d bytes: %v", len(raw), err)
		}
		all.Write(raw)
		if part.EOF {
			break
		}
	}
	p.call(page, "IO.close", fmt.Sprintf(`{"handle":%q}`, complete.Stream), nil)
	if got := p.refused(page, "IO.read", fmt.Sprintf(`{"handle":%q}`, complete.Stream)); !strings.Contains(got, "Invalid stream handle") {
		p.t.Errorf("a closed stream: %s", got)
	}
	var trace struct{ TraceEvents []traceEvent }
	decoded(all.Bytes(), &trace)
	return trace.TraceEvents
}

// colorOf returns the colour in the middle of a picture.
func colorOf(t *testing.T, picture string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(picture)
	if err != nil {
		t.Fatal(err)
	}
	image, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	middle := image.Bounds().Max.Div(2)
	r, g, b, _ := image.At(middle.X, middle.Y).RGBA()
	const half = 0x8000
	switch {
	case r > half && g > half && b > half:
		return "white"
	case r > half:
		return "red"
	case g > half:
		return "lime"
	}
	return "dark"
}
