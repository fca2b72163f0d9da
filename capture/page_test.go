package capture_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
)

func TestNavigationAndFrames(t *testing.T) {
	r := record(t, capture.Config{Navigation: true, Console: true})
	var other string
	base := site{pages: map[string]string{
		"/":      `<iframe src="/inner"></iframe>`,
		"/inner": `<script>console.log("inner")</script>`,
	}}.start(t)
	other = strings.Replace(base, "127.0.0.1", "localhost", 1)
	p := browsertest.Page(t)
	p.Open(base + "/#top")
	e, data := r.await(capture.TypeNavigation, urlEnds("/#top"))
	if data["frame_id"] != string(p.ID) || e.ParentFrameID != "" || e.URL != base+"/#top" {
		t.Errorf("got %s", e.JSON())
	}
	inner, data := r.await(capture.TypeNavigation, urlEnds("/inner"))
	if inner.ParentFrameID != string(p.ID) || data["parent_frame_id"] != string(p.ID) || inner.FrameID == inner.ParentFrameID {
		t.Errorf("got %s", inner.JSON())
	}
	line, _ := r.await(capture.TypeConsoleLog, field("text", "inner"))
	if line.FrameID != inner.FrameID || line.ParentFrameID != string(p.ID) || line.URL != base+"/inner" {
		t.Errorf("got %s", line.JSON())
	}
	r.await(capture.TypePageLoad, nil)
	if !slices.ContainsFunc(r.seen, func(e capture.Event) bool { return e.Type == capture.TypeDOMContentLoaded && e.URL == base+"/#top" }) {
		t.Error("no dom_content_loaded")
	}

	// The same in another process.
	p.Eval(fmt.Sprintf(`document.querySelector("iframe").src = %q; 0`, other+"/inner"), nil)
	line, _ = r.await(capture.TypeConsoleLog, func(e capture.Event, _ map[string]any) bool { return e.URL == other+"/inner" })
	if line.ParentFrameID != string(p.ID) || line.FrameID == "" || line.FrameID == string(p.ID) {
		t.Errorf("got %s", line.JSON())
	}
	p.Eval(`history.pushState({}, "", "/pushed"); 0`, nil)
	if e, data := r.await(capture.TypeNavigation, urlEnds("/pushed")); data["same_document"] != true || e.URL != base+"/pushed" {
		t.Errorf("got %s", e.JSON())
	}
	r.none(capture.TypeNetworkRequest)
	r.none(capture.TypeTargetCreated)
}

func TestPopup(t *testing.T) {
	r := record(t, capture.Config{Targets: true, Console: true})
	base := site{pages: map[string]string{"/": "x", "/pop": `<script>console.log("popup")</script>`}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	opener, _ := r.await(capture.TypeTargetCreated, field("target_id", p.ID))
	gesture := func(script string) {
		t.Helper()
		if _, err := cdp.Call(t.Context(), p.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: script, UserGesture: new(true)}); err != nil {
			t.Fatal(err)
		}
	}
	gesture(`window.popup = window.open("/pop?secret=1"); 0`)
	e, data := r.await(capture.TypeTargetCreated, nil)
	if data["url"] != base+"/pop?secret=[REDACTED]" || data["type"] != "page" || data["opener_id"] != string(p.ID) || e.TargetID == string(p.ID) || e.CDPSessionID == opener.CDPSessionID || e.CDPSessionID == "" {
		t.Errorf("got %s", e.JSON())
	}
	line, _ := r.await(capture.TypeConsoleLog, field("text", "popup"))
	if line.TargetID != e.TargetID || line.CDPSessionID != e.CDPSessionID || line.CDPSessionID == "" {
		t.Errorf("got %s after %s", line.JSON(), e.JSON())
	}
	gesture(`popup.close(); window.blank = window.open(); 0`)
	if gone, _ := r.await(capture.TypeTargetDestroyed, nil); gone.TargetID != e.TargetID {
		t.Errorf("got %s", gone.JSON())
	}
	r.reader = r.Ring().Read(0)
	r.await(capture.TypeTargetCreated, field("url", "about:blank"))
	gesture(`blank.close()`)
}

func TestDialogAndDownload(t *testing.T) {
	r := record(t, capture.Config{Navigation: true})
	base := site{pages: map[string]string{"/": "x"}, handlers: map[string]http.HandlerFunc{"/file": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=a.bin")
		w.Write([]byte("hello"))
	}}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	if err := cdp.Send(p.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: `prompt("your name?", "none")`}); err != nil {
		t.Fatal(err)
	}
	if e, data := r.await(capture.TypeDialogOpened, nil); data["type"] != "prompt" || data["message"] != "your name?" || data["default_value"] != "none" {
		t.Errorf("got %s", e.JSON())
	}
	if _, err := cdp.Call(t.Context(), p.Session, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true, PromptText: "typed by hand"}); err != nil {
		t.Fatal(err)
	}
	if e, data := r.await(capture.TypeDialogClosed, nil); data["type"] != "prompt" || data["accepted"] != true || strings.Contains(string(e.Data), "typed") {
		t.Errorf("got %s", e.JSON())
	}
	p.Eval(`location.href = "/file"; 0`, nil)
	_, started := r.await(capture.TypeDownloadStarted, nil)
	if started["filename"] != "a.bin" || started["url"] != base+"/file" {
		t.Errorf("got %v", started)
	}
	if _, data := r.await(capture.TypeDownloadFinished, nil); data["id"] != started["id"] || data["filename"] != "a.bin" || data["state"] == "" {
		t.Errorf("got %v", data)
	}
}

func TestInteractions(t *testing.T) {
	r := record(t, capture.Config{Interactions: true, ComputedEvents: true})
	base := site{pages: map[string]string{"/": `<body style="margin:0;height:5000px">
		<button id=go style="position:absolute;left:0;top:0;width:100px;height:40px">Go on</button>
		<input name=q style="position:absolute;left:0;top:50px"><input type=password id=pw style="position:absolute;left:0;top:100px">
		<input id=card autocomplete="section-a cc-number" style="position:absolute;left:0;top:150px">
		<input id=own style="position:absolute;left:0;top:200px;-webkit-text-security:disc"></body>`}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	mouse := func(event input.DispatchMouseEventType, x, y, wheel float64) {
		t.Helper()
		params := input.DispatchMouseEventParams{Type: event, X: x, Y: y}
		if event == "mouseWheel" {
			params.DeltaX, params.DeltaY = 1, wheel // cdproto's type would omit 0
		} else {
			params.Button, params.ClickCount = "left", 1
		}
		if _, err := cdp.Call(t.Context(), p.Session, input.DispatchMouseEvent, params); err != nil {
			t.Fatal(err)
		}
	}
	click := func(x, y float64) { mouse("mousePressed", x, y, 0); mouse("mouseReleased", x, y, 0) }
	key := func(name string) {
		t.Helper()
		for _, event := range []input.DispatchKeyEventType{"keyDown", "keyUp"} {
			if _, err := cdp.Call(t.Context(), p.Session, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: event, Key: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	click(20, 20)
	e, data := r.await(capture.TypeInteractionClick, nil)
	if data["selector"] != "button#go" || data["tag"] != "button" || data["text"] != "Go on" || data["x"] != 20.0 || e.FrameID != string(p.ID) {
		t.Errorf("got %s", e.JSON())
	}
	click(10, 60)
	key("a")
	if _, data = r.await(capture.TypeInteractionKey, nil); data["key"] != "a" || data["tag"] != "input" || !strings.Contains(data["selector"].(string), `input[name="q"]`) {
		t.Errorf("got %v", data)
	}
	// Keys in password and card fields, and in those that show dots, are not
	// recorded, and neither is any key of a person.
	click(10, 110)
	key("b")
	click(10, 160)
	key("c")
	click(10, 210)
	key("e")
	click(10, 60)
	r.PersonControls(true)
	key("d")
	r.PersonControls(false)
	click(20, 20)
	r.await(capture.TypeInteractionClick, field("selector", "button#go"))
	for _, seen := range r.seen {
		if seen.Type == capture.TypeInteractionKey && !strings.Contains(string(seen.Data), `"key":"a"`) {
			t.Errorf("recorded %s", seen.Data)
		}
	}
	mouse("mouseWheel", 300, 300, 400)
	_, scroll := r.await(capture.TypeInteractionScroll, nil)
	if scroll["from_y"] != 0.0 || scroll["to_y"].(float64) <= 5 || scroll["target_selector"] != "document" {
		t.Errorf("got %v", scroll)
	}
	r.await(capture.TypeScrollSettled, nil)
}
