package cdp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/door/doortest"
	"takeover/input"
	"takeover/session"
)

// person joins a session and takes control.
func person(t *testing.T, s *session.Session) *session.Viewer {
	t.Helper()
	v, err := s.Join(session.ViewerOptions{Role: session.RoleControl, Name: "a person"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	return v
}

// press presses the mouse at a point for a person in control.
func press(t *testing.T, v *session.Viewer, epoch uint64, x, y float64) {
	t.Helper()
	for _, event := range []string{"down", "up"} {
		if err := v.Mouse(input.Mouse{Event: event, X: x, Y: y, Button: "left", ClickCount: 1}, session.Stamp{Epoch: epoch}); err != nil {
			t.Fatal(err)
		}
	}
}

// until waits for a message of a viewer.
func until[M any](t *testing.T, v *session.Viewer, what string, match func(M) bool) M {
	t.Helper()
	for {
		m, err := v.NextMessage(browsertest.Context(t, what))
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := m.(M); ok && match(m) {
			return m
		}
	}
}

// TestAPersonsNewPageIsSetUp lets a person open a tab while a client pauses new
// pages. The client sets the page up without waiting, and only then waits.
func TestAPersonsNewPageIsSetUp(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	p.event("Target.attachedToTarget") // the page that is there
	v := person(t, s)
	opened := make(chan error, 1)
	go func() {
		opened <- v.OpenTab(t.Context(), doortest.Site(t, map[string]string{"/": "<title>theirs</title>"}))
	}()
	var e struct {
		SessionID          string
		WaitingForDebugger bool
	}
	if err := json.Unmarshal(p.event("Target.attachedToTarget").Params, &e); err != nil || !e.WaitingForDebugger {
		t.Fatalf("attached: %+v %v", e, err)
	}
	p.call(e.SessionID, "Network.setExtraHTTPHeaders", `{"headers":{"X-Mine":"1"}}`, nil)
	p.call(e.SessionID, "Emulation.setEmulatedMedia", `{"media":"screen"}`, nil)
	p.call(e.SessionID, "Runtime.runIfWaitingForDebugger", "", nil)
	id := p.send(e.SessionID, "Runtime.evaluate", `{"expression":"document.title = 'changed'"}`)
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	until(t, v, "the person's page", func(m session.TabsMessage) bool {
		return len(m.Tabs) == 2 && m.Tabs[1].Title == "theirs"
	})
	for _, m := range p.got {
		if m.ID != nil && *m.ID == id {
			t.Error("a command that writes did not wait")
		}
	}
	v.Leave()
	p.reply(id)
}

// TestACrashBesideAPerson lets a renderer die while a person is in control. The client
// is told when the person has left the page as it is.
func TestACrashBesideAPerson(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	page, target := p.attach()
	p.call(page, "Inspector.enable", "", nil)
	p.call("", "Target.setDiscoverTargets", `{"discover":true}`, nil)
	v := person(t, s)
	doortest.Crash(t, s, target)
	until(t, v, "the crash", func(m session.TabsMessage) bool { return len(m.Tabs) == 1 && m.Tabs[0].State == session.TabCrashed })
	p.call("", "Target.getTargets", "", nil)
	for _, m := range p.got {
		if strings.HasSuffix(m.Method, ".targetCrashed") {
			t.Errorf("the client was told %s while it waits", m.Method)
		}
	}
	v.Leave()
	if m := p.event("Inspector.targetCrashed"); m.SessionID != page {
		t.Errorf("the event is %+v", m)
	}
	if m := p.event("Target.targetCrashed"); m.SessionID != "" || !strings.Contains(string(m.Params), target) {
		t.Errorf("the event is %+v", m)
	}
}

// TestNoWayRoundByPausedPopup keeps a popup of a person's page paused: code in it,
// which reaches its opener, waits for the person like code in the page itself.
func TestNoWayRoundByPausedPopup(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, nil)
	var there struct{ SessionID string }
	if err := json.Unmarshal(p.event("Target.attachedToTarget").Params, &there); err != nil {
		t.Fatal(err)
	}
	page := there.SessionID
	p.evaluate(page, "document.title = 'theirs'")
	p.send(page, "Runtime.evaluate", `{"expression":"void open('about:blank')","userGesture":true}`)
	var e struct {
		SessionID          string
		WaitingForDebugger bool
	}
	if err := json.Unmarshal(p.event("Target.attachedToTarget").Params, &e); err != nil || !e.WaitingForDebugger {
		t.Fatalf("attached: %+v %v", e, err)
	}
	leave := doortest.Person(t, s)
	ids := []int{p.send(e.SessionID, "Runtime.evaluate", `{"expression":"opener.document.title = 'mine'"}`)}
	for _, cmd := range [][2]string{
		{"Network.setCookie", `{"name":"a","value":"b","url":"http://a.test/"}`}, {"Network.clearBrowserCookies", ""}, {"Page.handleJavaScriptDialog", `{"accept":true}`},
		{"ServiceWorker.stopAllWorkers", ""}, {"Debugger.setPauseOnExceptions", `{"state":"all"}`}, {"Page.close", ""},
	} {
		ids = append(ids, p.send(e.SessionID, cmd[0], cmd[1]))
	}
	p.call(e.SessionID, "Emulation.setEmulatedMedia", `{"media":"screen"}`, nil) // the page is set up all the same
	p.call(e.SessionID, "Page.addScriptToEvaluateOnNewDocument", `{"source":"opener.document.title = 'mine'","runImmediately":true}`, nil)
	p.call(e.SessionID, "Runtime.runIfWaitingForDebugger", "", nil)
	if m := p.reply(p.send(page, "DOM.getDocument", `{"depth":-1}`)); !strings.Contains(string(m.Result), "theirs") {
		t.Errorf("the document is %s", m.Result)
	}
	for _, m := range p.got {
		if m.ID != nil && slices.Contains(ids, *m.ID) {
			t.Errorf("%d was carried out while a person is in control", *m.ID)
		}
	}
	leave()
	for _, id := range ids {
		p.reply(id)
	}
}

// TestNoParameterAvoidsWaiting sends commands that write with parameters that are
// about reading, or that make a setting act at once.
func TestNoParameterAvoidsWaiting(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, target := p.attach()
	p.evaluate(page, "document.title = 'theirs'")
	leave := doortest.Person(t, s)
	var ids []int
	for _, cmd := range [][2]string{
		{"Input.insertText", `{"text":"mine","throwOnSideEffect":true}`},
		{"Runtime.evaluate", `{"expression":"(async () => ({then(done) { document.title = 'mine'; done() }}))()","throwOnSideEffect":true}`}, // V8 does not heed it in the promise's own job
		{"Page.setDocumentContent", fmt.Sprintf(`{"frameId":%q,"html":"<title>mine</title>","throwOnSideEffect":true}`, target)},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"document.title = 'mine'","runImmediately":true}`},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"document.title = 'mine'","\u0072unImmediately":true,"worldName":"w"}`},
	} {
		ids = append(ids, p.send(page, cmd[0], cmd[1]))
	}
	if m := p.reply(p.send(page, "DOM.getDocument", `{"depth":-1}`)); !strings.Contains(string(m.Result), "theirs") {
		t.Errorf("the document is %s", m.Result)
	}
	p.call(page, "Page.addScriptToEvaluateOnNewDocument", `{"source":"","worldName":"w","runImmediately":true}`, nil) // only makes a world
	for _, m := range p.got {
		if m.ID != nil {
			t.Errorf("%d was carried out while a person is in control", *m.ID)
		}
	}
	leave()
	for _, id := range ids {
		p.reply(id)
	}
	if got := p.evaluate(page, "document.title"); got != "mine" {
		t.Errorf("afterwards the title is %s", got)
	}
}

// TestAnAnswerToADialogThatAPersonGave lets a person answer the dialog that a client
// wants to answer, too. The client's answer does not go to the next dialog.
func TestAnAnswerToADialogThatAPersonGave(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.call(page, "Page.enable", "", nil)
	first := p.send(page, "Runtime.evaluate", `{"expression":"prompt('first')"}`)
	p.event("Page.javascriptDialogOpening")
	v := person(t, s)
	answer := p.send(page, "Page.handleJavaScriptDialog", `{"accept":true,"promptText":"from the client"}`)
	dialog := until(t, v, "the dialog", func(session.DialogMessage) bool { return true })
	if err := v.Dialog(dialog.ID, true, "from the person"); err != nil {
		t.Fatal(err)
	}
	if m := p.reply(first); !strings.Contains(string(m.Result), "from the person") {
		t.Errorf("the page got %s", m.Result)
	}
	v.Leave()
	if m := p.reply(answer); m.Error == nil || m.Error.Message != "No dialog is showing" {
		t.Errorf("the client's answer got %+v", m)
	}
	// Without people, dialogs are left to the client.
	second := p.send(page, "Runtime.evaluate", `{"expression":"prompt('second')"}`)
	p.event("Page.javascriptDialogOpening")
	p.call(page, "Page.handleJavaScriptDialog", `{"accept":true,"promptText":"alone"}`, nil)
	if m := p.reply(second); !strings.Contains(string(m.Result), "alone") {
		t.Errorf("the page got %s", m.Result)
	}
}

// TestHeldKeysAreReleased lets a person take control while a client holds a button
// and a key down.
func TestHeldKeysAreReleased(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.evaluate(page, `window.seen = []; for (const name of ['mousedown', 'mouseup', 'keydown', 'keyup']) addEventListener(name, e => seen.push(name + (e.key ?? ''))); document.body.focus(); 0`)
	p.call(page, "Input.dispatchMouseEvent", `{"type":"mousePressed","x":10,"y":10,"button":"left","clickCount":1}`, nil)
	p.call(page, "Input.dispatchKeyEvent", `{"type":"rawKeyDown","key":"Shift","code":"ShiftLeft","windowsVirtualKeyCode":16}`, nil)
	v := person(t, s)
	v.Leave()
	want := "keydownShift,keyupShift,mousedown,mouseup"
	if got := p.evaluate(page, `new Promise(done => { const look = () => seen.length < 4 ? setTimeout(look, 10) : done([...seen].sort().join()); look(); })`); got != want {
		t.Errorf("the page saw %s, want %s", got, want)
	}
}

// TestActions checks the events of writing commands.
func TestActions(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	if _, err := s.StartCapture(t.Context(), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	site := doortest.Site(t, map[string]string{"/": "<title>x</title>"})
	p.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, site+"/?password=hush"), nil)
	p.call(page, "Page.getFrameTree", "", nil)
	p.refused(page, "DOM.removeNode", `{"nodeId":77}`)
	got, err := s.Journal().Events(t.Context(), 0, 100, capture.Filter{Types: []string{capture.TypeActionStarted, capture.TypeActionEnded}})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range got.Events {
		var a struct {
			Actor, Operation, Target, Error string
			OK                              *bool
		}
		if err := json.Unmarshal(e.Data, &a); err != nil {
			t.Fatal(err)
		}
		line := e.Type + " " + a.Operation
		if a.OK != nil {
			line += fmt.Sprint(" ", *a.OK)
		}
		told = append(told, line)
		if !strings.HasPrefix(a.Actor, "client:cdp_") || strings.Contains(string(e.Data), "hush") || a.Error == "" && a.OK != nil && !*a.OK {
			t.Errorf("event %s", e.Data)
		}
	}
	want := "action_started Page.navigate,action_ended Page.navigate true,action_started DOM.removeNode,action_ended DOM.removeNode false"
	if strings.Join(told, ",") != want {
		t.Errorf("events %s\nwant   %s", strings.Join(told, ","), want)
	}
}

// TestTakeovers requests people, and ends the takeovers in each way.
func TestTakeovers(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	address := serve(t, s, nil)
	p := dial(t, address)
	page, _ := p.attach()
	for state, end := range map[string]func(*session.Takeover) error{
		"done":      func(to *session.Takeover) error { return to.Done("somebody", "all set") },
		"failed":    func(to *session.Takeover) error { return to.Fail("somebody", "all set") },
		"cancelled": func(to *session.Takeover) error { return to.Cancel("somebody") },
		"expired":   func(*session.Takeover) error { return nil },
	} {
		id := p.send(page, "Takeover.request", `{"reason":"help me","note":"a note","timeout":1500}`)
		var asked struct{ ID, URL string }
		m := p.event("Takeover.requested")
		if err := json.Unmarshal(m.Params, &asked); err != nil || m.SessionID != page || !strings.Contains(asked.URL, asked.ID) {
			t.Fatalf("event %+v: %v", m, err)
		}
		write := p.send(page, "Runtime.evaluate", `{"expression":"1"}`)
		open, err := s.Takeover(asked.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := end(open); err != nil {
			t.Fatal(err)
		}
		var info session.TakeoverInfo
		answer := p.reply(id)
		if err := json.Unmarshal(answer.Result, &info); err != nil || string(info.State) != state || info.ID != asked.ID || info.RequestNote != "a note" || !strings.HasPrefix(info.RequestedBy, "client:cdp_") {
			t.Errorf("%s: %s, %v", state, answer.Result, err)
		}
		if m := p.reply(write); m.Error != nil {
			t.Errorf("after a takeover that is %s: %s", state, m.Error.Message)
		}
	}
	asked := func() *session.Takeover {
		var told struct{ ID string }
		if err := json.Unmarshal(p.event("Takeover.requested").Params, &told); err != nil {
			t.Fatal(err)
		}
		open, err := s.Takeover(told.ID)
		if err != nil {
			t.Fatal(err)
		}
		return open
	}
	first, second := p.send(page, "Takeover.request", `{"reason":"one"}`), p.send(page, "Takeover.request", `{"reason":"another"}`)
	reasons := []string{}
	for range 2 { // one errand at a time, in either order
		open := asked()
		if now := s.Info().Takeover; now == nil || now.ID != open.ID() {
			t.Errorf("the open takeover is %+v", now)
		}
		reasons = append(reasons, open.Info().Reason)
		if err := open.Done("somebody", ""); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(reasons)
	if !slices.Equal(reasons, []string{"another", "one"}) {
		t.Errorf("asked for %q", reasons)
	}
	for _, id := range []int{first, second} {
		if m := p.reply(id); m.Error != nil || !strings.Contains(string(m.Result), `"state":"done"`) {
			t.Errorf("a takeover among two: %+v", m)
		}
	}
	for params, want := range map[string]string{`{"reason":"a","tiemout":1}`: "tiemout: unknown parameter", `{"reason":"a","timeout":"5m"}`: "timeout: must not be a string"} {
		if got := p.refused(page, "Takeover.request", params); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
	if got := p.refused(page, "Takeover.request", `{"reason":""}`); !strings.Contains(got, "reason") {
		t.Errorf("no reason: %s", got)
	}
	var live struct{ LiveURL, LiveURLID string }
	p.call("", "Browserless.liveURL", `{"timeout":60000}`, &live)
	open, err := s.Takeover(live.LiveURLID)
	if err != nil || open.Info().URL != live.LiveURL {
		t.Fatalf("%+v: %v", live, err)
	}
	if err := open.Done("somebody", ""); err != nil {
		t.Fatal(err)
	}
	p.event("Browserless.liveComplete")
	var view struct{ DevtoolsFrontendURL string }
	p.call("", "Cloudflare.getLiveView", "", &view)
	if links := s.Links(); len(links) == 0 || !strings.Contains(view.DevtoolsFrontendURL, "/sessions/"+s.ID()+"#") {
		t.Errorf("the live view is %q", view.DevtoolsFrontendURL)
	}
	// Nobody waits for the takeover of a client that leaves.
	p.send(page, "Takeover.request", `{"reason":"gone"}`)
	p.event("Takeover.requested")
	list := s.Takeovers()
	_ = p.conn.CloseNow()
	<-list[len(list)-1].Ended()
	if got := list[len(list)-1].Info().State; got != session.TakeoverCancelled {
		t.Errorf("the takeover is %s", got)
	}
}

// TestSomebodyElsesTakeover lets an operator ask for a person: a client's writes wait
// before somebody comes, and its reads do not.
func TestSomebodyElsesTakeover(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	to, err := s.RequestTakeover(session.TakeoverOptions{Reason: "help"})
	if err != nil {
		t.Fatal(err)
	}
	write := p.send(page, "Runtime.evaluate", `{"expression":"1"}`)
	read := p.send(page, "Page.getFrameTree", "")
	if m := p.wait("an answer", func(m wire) bool { return m.ID != nil && (*m.ID == read || *m.ID == write) }); *m.ID == write {
		t.Error("the write did not wait")
	}
	if err := to.Cancel("somebody"); err != nil {
		t.Fatal(err)
	}
	if m := p.reply(write); m.Error != nil {
		t.Error(m.Error.Message)
	}
}

// TestFilesOfTheSession gives a file input a file of the session, by a path of the
// client's machine.
func TestFilesOfTheSession(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	folder, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Write("in.txt", strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.evaluate(page, `document.body.innerHTML = '<input type=file>'; 0`)
	var out struct{ Result struct{ ObjectID string } }
	p.call(page, "Runtime.evaluate", `{"expression":"document.querySelector('input')"}`, &out)
	p.call(page, "DOM.setFileInputFiles", fmt.Sprintf(`{"files":["/home/me/in.txt"],"objectId":%q}`, out.Result.ObjectID), nil)
	if got := p.evaluate(page, `document.querySelector('input').files[0].text()`); got != "hello" {
		t.Errorf("the page read %q", got)
	}
	for _, name := range []string{"/etc/passwd", "none.txt", ".."} {
		if got := p.refused(page, "DOM.setFileInputFiles", fmt.Sprintf(`{"files":[%q],"objectId":%q}`, name, out.Result.ObjectID)); !strings.Contains(got, "the session has no file") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestSettingsWaitForAPerson attaches to a page that a person works in. The settings
// are answered at once, and apply only when the person has left; what comes after
// other commands that write waits like them.
func TestSettingsWaitForAPerson(t *testing.T) {
	s := doortest.Borrow(t, "")
	address := serve(t, s, nil)
	p := dial(t, address)
	page, _ := p.attach()
	p.evaluate(page, "matchMedia('print').onchange = () => { document.title = 'changed' }; document.title = 'theirs'")
	leave := doortest.Person(t, s)
	again, _ := p.attach()
	other := dial(t, address)
	first, _ := other.attach()
	for _, c := range []struct {
		by      *peer
		session string
	}{{p, again}, {other, first}} {
		c.by.call(c.session, "Emulation.setEmulatedMedia", `{"media":"print"}`, nil)
		c.by.call(c.session, "Network.setExtraHTTPHeaders", `{"headers":{"X-Mine":"1"}}`, nil)
		if m := c.by.reply(c.by.send(c.session, "DOM.getDocument", `{"depth":-1}`)); !strings.Contains(string(m.Result), "theirs") {
			t.Errorf("the document is %s", m.Result)
		}
	}
	ids := []int{p.send(page, "Emulation.setEmulatedMedia", `{"media":"print"}`), p.send(again, "Fetch.enable", ""), p.send(again, "Emulation.setEmulatedMedia", `{"media":"print"}`)}
	p.call(page, "Page.getFrameTree", "", nil)
	for _, m := range p.got {
		if m.ID != nil {
			t.Errorf("%d was carried out while a person is in control", *m.ID)
		}
	}
	leave()
	for _, id := range ids {
		p.reply(id)
	}
	browsertest.Until(t, "the settings", func() bool {
		return strings.Contains(string(other.reply(other.send(first, "DOM.getDocument", `{"depth":-1}`)).Result), "changed")
	})
}

// TestBringToFront lets a client choose the page that people see.
func TestBringToFront(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	first, firstTarget := p.attach()
	var second struct{ TargetID string }
	p.call("", "Target.createTarget", `{"url":"about:blank"}`, &second)
	v, err := s.Join(session.ViewerOptions{Role: session.RoleView})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	shows := func(tab uint32) {
		t.Helper()
		until(t, v, "the shown tab", func(m session.TabsMessage) bool { return len(m.Tabs) == 2 && m.Active == tab })
	}
	shows(2)
	p.call(first, "Page.bringToFront", "", nil)
	shows(1)
	p.call("", "Target.activateTarget", fmt.Sprintf(`{"targetId":%q}`, second.TargetID), nil)
	shows(2)
	p.call("", "Target.activateTarget", fmt.Sprintf(`{"targetId":%q}`, firstTarget), nil)
	shows(1)
}

// TestControlChangesWhileAProgramTypes takes and gives back control while a program types:
// none of its keys arrives between those of the person, none stays down, and all arrive
// once and in order.
func TestControlChangesWhileAProgramTypes(t *testing.T) {
	const keys, changes = 5000, 200
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, func(o *Options) { o.StallLimit = time.Hour })) // it reads nothing until the end
	page, _ := p.attach()
	p.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, doortest.Site(t, map[string]string{"/": `<script>
		const log = [];
		for (const type of ['keydown', 'keyup']) addEventListener(type, e => log.push(e.key + (type === 'keydown' ? '+' : '-')));
	</script>`})), nil)
	v := person(t, s)
	if err := v.Control("release"); err != nil {
		t.Fatal(err)
	}
	until(t, v, "the release", func(m session.ControlMessage) bool { return !m.Holder.IsPerson() })
	typed := make(chan error, 1)
	go func() {
		var raw []byte
		for i := range keys {
			for _, kind := range []string{"keyDown", "keyUp"} {
				raw = fmt.Appendf(raw[:0], `{"id":%d,"method":"Input.dispatchKeyEvent","sessionId":%q,"params":{"type":%q,"key":%q}}`, 1_000_000+i, page, kind, string(rune(0x4e00+i)))
				if err := p.conn.Write(t.Context(), websocket.MessageText, raw); err != nil {
					typed <- err
					return
				}
			}
		}
		typed <- nil
	}()
	for range changes {
		if err := v.Control("take"); err != nil {
			t.Fatal(err)
		}
		control := until(t, v, "control", func(m session.ControlMessage) bool { return m.Mine })
		for _, key := range []session.Key{{Event: "down", Key: "F7", Code: "F7"}, {Event: "up", Key: "F7", Code: "F7"}, {Event: "down", Key: "F8", Code: "F8"}, {Event: "up", Key: "F8", Code: "F8"}} {
			if err := v.Key(key, session.Stamp{Epoch: control.Epoch}); err != nil {
				t.Fatal(err)
			}
		}
		if err := v.Control("release"); err != nil {
			t.Fatal(err)
		}
		until(t, v, "the release", func(m session.ControlMessage) bool { return !m.Mine })
	}
	for range 2 * keys {
		p.wait("the replies", func(m wire) bool { return m.ID != nil && *m.ID >= 1_000_000 })
	}
	if err := <-typed; err != nil {
		t.Fatal(err)
	}
	down, next, marks := "", 0, 0 // the key that is down, the program's next key, the person's keys
	for _, entry := range strings.Split(p.evaluate(page, "log.join(' ')"), " ") {
		key, pressed := entry[:len(entry)-1], strings.HasSuffix(entry, "+")
		switch {
		case strings.HasPrefix(key, "F"):
			marks++
			if down != "" && down != key {
				t.Fatalf("%s while %s is down", entry, down)
			}
		case marks%4 != 0:
			t.Fatalf("%s between the keys of the person", entry)
		case pressed && key != string(rune(0x4e00+next)):
			t.Fatalf("%s is not key %d", entry, next)
		case pressed:
			next++
		}
		if down = ""; pressed {
			down = key
		}
	}
	if next != keys || marks != 4*changes || down != "" {
		t.Errorf("%d keys of the program, %d of the person, %q is down", next, marks, down)
	}
}
