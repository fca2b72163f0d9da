package cdp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/cdp/policy"
	"takeover/cdp/policy/policytest"
	"takeover/door/doortest"
	"takeover/session"
)

// TestTheServersOwnPagesAreHidden asks for everything, while the server opens hidden
// pages.
func TestTheServersOwnPagesAreHidden(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	address := serve(t, s, nil)
	p, other := dial(t, address), dial(t, address)
	page, target := other.attach()
	p.call("", "Target.setDiscoverTargets", `{"discover":true,"filter":[{}]}`, nil)
	p.call("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page","exclude":true},{}]}`, nil)
	site := doortest.Site(t, map[string]string{"/": "<script>localStorage.a = 1</script>"})
	other.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, site), nil)
	other.evaluate(page, "localStorage.a")
	state, err := s.StorageState(browsertest.Context(t, "the storage state")) // reads it in a hidden page
	if err != nil || len(state.Origins) != 1 {
		t.Fatalf("%+v: %v", state, err)
	}
	p.page() // all events have come
	seen := 0
	for _, m := range p.got {
		var e struct{ TargetInfo *targetInfo }
		if json.Unmarshal(m.Params, &e) != nil || e.TargetInfo == nil {
			continue
		}
		seen++
		switch e.TargetInfo.Type {
		case "page", "tab", "browser":
		default:
			t.Errorf("%s about a target of type %s", m.Method, e.TargetInfo.Type)
		}
		if e.TargetInfo.Type == "page" && e.TargetInfo.TargetID != target {
			t.Errorf("%s about page %s", m.Method, e.TargetInfo.TargetID)
		}
	}
	if seen < 3 {
		t.Errorf("%d events about targets", seen)
	}
}

// TestTheServersOwnWorldsAreClosed looks for the isolated worlds of the server.
func TestTheServersOwnWorldsAreClosed(t *testing.T) {
	p := dial(t, serve(t, doortest.Borrow(t, ""), nil))
	page, target := p.attach()
	p.call(page, "Runtime.enable", "", nil)
	announced := map[int64]bool{}
	for _, m := range p.got {
		var e struct {
			Context struct {
				ID   int64
				Name string
			}
		}
		if m.Method == "Runtime.executionContextCreated" && json.Unmarshal(m.Params, &e) == nil {
			announced[e.Context.ID] = true
			if policy.ReservedName(e.Context.Name) {
				t.Errorf("the world %s is announced", e.Context.Name)
			}
		}
	}
	var made struct{ ExecutionContextID int64 }
	p.call(page, "Page.createIsolatedWorld", fmt.Sprintf(`{"frameId":%q}`, target), &made)
	announced[made.ExecutionContextID] = true
	closed := 0 // worlds that were made before this one
	for id := int64(1); id < 30; id++ {
		m := p.reply(p.send(page, "Runtime.evaluate", fmt.Sprintf(`{"expression":"1","contextId":%d}`, id)))
		if (m.Error == nil) != announced[id] {
			t.Errorf("context %d, announced: %v, got %+v", id, announced[id], m)
		}
		if m.Error != nil && id < made.ExecutionContextID {
			closed++
		}
	}
	if len(announced) == 0 || closed == 0 {
		t.Errorf("%d worlds are announced, %d closed", len(announced), closed)
	}
}

// TestRefusals sends what no program may send.
func TestRefusals(t *testing.T) {
	p := dial(t, serve(t, doortest.Borrow(t, ""), nil))
	page, _ := p.attach()
	for _, attack := range policytest.Attacks {
		if got := p.refused(page, attack.Method, attack.Params); !strings.Contains(got, attack.Want) {
			t.Errorf("%s %s: %s, want %q", attack.Method, attack.Params, got, attack.Want)
		}
	}
}

// TestGuessedWorlds names worlds by their numbers while a page goes from site to site, so
// that they are asked for before the server knows of them. The code never runs where the
// server's own does.
func TestGuessedWorlds(t *testing.T) {
	p := dial(t, serve(t, doortest.Session(t, session.CreateOptions{}), nil))
	page, _ := p.attach()
	address := doortest.Site(t, map[string]string{"/": "<iframe srcdoc=x></iframe>"})
	other := strings.Replace(address, "127.0.0.1", "localhost", 1)
	for i := range 12 {
		navigation := p.send(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, []string{address, other}[i%2]))
		for loading := true; loading; loading = !slices.ContainsFunc(p.got, func(m wire) bool { return m.ID != nil && *m.ID == navigation }) {
			var guesses []int
			for id := range 24 {
				guesses = append(guesses, p.send(page, "Runtime.evaluate", fmt.Sprintf(`{"contextId":%d,"expression":"Object.getOwnPropertyNames(globalThis).filter(n => n.startsWith('takeover')).join()"}`, id+1)))
			}
			for _, guess := range guesses {
				if m := p.reply(guess); m.Error == nil && strings.Contains(string(m.Result), "takeover") {
					t.Fatalf("code ran in the server's world: %s", m.Result)
				}
			}
		}
		p.reply(navigation)
	}
}

// TestBindingsKeepSecrets replaces what recognizes secret fields in all worlds, as far as
// a program may. Pictures still wait while a person is in such a field.
func TestBindingsKeepSecrets(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.call(page, "Runtime.enable", "", nil)
	for _, name := range []string{"takeoverAgent", "HTMLElement", "HTMLInputElement", "Element", "Node", "Map", "WeakMap", "MutationObserver", "getComputedStyle"} {
		p.call(page, "Runtime.addBinding", fmt.Sprintf(`{"name":%q}`, name), nil)
	}
	p.call(page, "Page.navigate", fmt.Sprintf(`{"url":%q}`, doortest.Site(t, map[string]string{"/": "<input type=password style='position:fixed;inset:0'>"})), nil)
	v := person(t, s)
	control := until(t, v, "control", func(m session.ControlMessage) bool { return m.Holder.IsPerson() })
	press(t, v, control.Epoch, 20, 20)
	until(t, v, "the secret field", func(m session.FocusMessage) bool { return m.Kind == "password" })
}

// TestStrangeTargets names the browser target of another client.
func TestStrangeTargets(t *testing.T) {
	address := serve(t, doortest.Borrow(t, ""), nil)
	p, other := dial(t, address), dial(t, address)
	strange := other.targetID()
	for _, method := range []string{"Target.getTargetInfo", "Target.closeTarget", "Target.activateTarget", "Target.attachToTarget", "Target.getDevToolsTarget"} {
		for _, id := range []string{strange, "none"} {
			if got := p.refused("", method, fmt.Sprintf(`{"targetId":%q}`, id)); got != "-32602 No target with given id found" {
				t.Errorf("%s of %s: %s", method, id, got)
			}
		}
	}
	if p.targetID() == strange || other.targetID() != strange {
		t.Error("a client does not see its own target")
	}
}

// TestNoPauseInTheServersOwnWorlds steps through a page into which the server's own
// scripts listen. The client's debugger does not see them, and cannot act in them.
func TestNoPauseInTheServersOwnWorlds(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	p := dial(t, serve(t, s, nil))
	page, _ := p.attach()
	p.evaluate(page, `document.body.innerHTML = '<input type=password>'; 0`)
	person(t, s).Leave() // the server looks after secret fields
	p.call(page, "Runtime.enable", "", nil)
	open := map[string]bool{}
	for _, m := range p.got {
		var e struct{ Context struct{ ID int64 } }
		if m.Method == "Runtime.executionContextCreated" && json.Unmarshal(m.Params, &e) == nil {
			open[fmt.Sprint(e.Context.ID)] = true
		}
	}
	p.call(page, "Debugger.enable", "", nil)
	p.call(page, "Debugger.pause", "", nil)
	id := p.send(page, "Runtime.evaluate", `{"expression":"const field = document.querySelector('input'); field.focus(); field.value = 'x'; field.dispatchEvent(new InputEvent('input', {bubbles: true})); field.blur()"}`)
	pauses, frame := 0, ""
	for {
		m := p.wait("a pause or the end", func(m wire) bool { return m.Method == "Debugger.paused" || m.ID != nil && *m.ID == id })
		if m.ID != nil {
			break
		}
		var e struct {
			CallFrames []struct{ CallFrameID string }
		}
		if err := json.Unmarshal(m.Params, &e); err != nil || len(e.CallFrames) == 0 {
			t.Fatalf("%s: %v", m.Params, err)
		}
		for _, f := range e.CallFrames {
			if parts := strings.Split(f.CallFrameID, "."); len(parts) != 3 || !open[parts[1]] {
				t.Errorf("a pause in the call frame %s, and the open worlds are %v", f.CallFrameID, open)
			}
		}
		frame = e.CallFrames[0].CallFrameID
		if pauses++; pauses == 1 { // the client's own pauses are as ever
			p.call(page, "Debugger.evaluateOnCallFrame", fmt.Sprintf(`{"callFrameId":%q,"expression":"1"}`, frame), nil)
		}
		p.call(page, "Debugger.stepInto", "", nil)
	}
	if pauses < 3 {
		t.Errorf("%d pauses", pauses)
	}
	for _, cmd := range [][2]string{
		{"Debugger.evaluateOnCallFrame", fmt.Sprintf(`{"callFrameId":%q,"expression":"1"}`, frame)},
		{"Debugger.evaluateOnCallFrame", fmt.Sprintf(`{"callFrameId":%q,"expression":"1","throwOnSideEffect":true}`, frame)},
		{"Debugger.setVariableValue", fmt.Sprintf(`{"callFrameId":%q,"scopeNumber":0,"variableName":"a","newValue":{}}`, frame)},
		{"Debugger.restartFrame", fmt.Sprintf(`{"callFrameId":%q,"mode":"StepInto"}`, frame)},
		{"Debugger.setReturnValue", `{"newValue":{}}`},
		{"Debugger.setScriptSource", `{"scriptId":"1","scriptSource":""}`},
		{"Debugger.setBreakpoint", `{"location":{"scriptId":"1","lineNumber":0},"condition":"1"}`},
		{"Debugger.setBreakpointOnFunctionCall", `{"objectId":"1","condition":"1"}`},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":0,"urlRegex":".*","condition":"1"}`},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":0,"url":"evaluator","condition":"1"}`},
	} {
		if got := p.refused(page, cmd[0], cmd[1]); !strings.Contains(got, "not available in Takeover") {
			t.Errorf("%s: %s", cmd[0], got)
		}
	}
	p.call(page, "Debugger.setBreakpointByUrl", `{"lineNumber":0,"url":"http://a.test/a.js","condition":"1"}`, nil)
}

// TestNoCommandLine evaluates code with the command line API, whose debug() takes a
// condition for functions that all worlds share. Lighthouse asks for the API and then
// for a debugger, and needs neither together.
func TestNoCommandLine(t *testing.T) {
	p := dial(t, serve(t, doortest.Borrow(t, ""), nil))
	page, _ := p.attach()
	undefined := func(when, method, params string) {
		t.Helper()
		if m := p.reply(p.send(page, method, params)); !strings.Contains(string(m.Result), `"undefined"`) {
			t.Errorf("%s, debug is %s", when, m.Result)
		}
	}
	const asks = `{"expression":"typeof debug","includeCommandLineAPI":true}`
	undefined("without a debugger", "Runtime.evaluate", asks)
	p.call(page, "Debugger.enable", "", nil)
	undefined("with a debugger", "Runtime.evaluate", asks)
	p.send(page, "Runtime.evaluate", `{"expression":"(() => { debugger })()"}`)
	var e struct {
		CallFrames []struct{ CallFrameID string }
	}
	if err := json.Unmarshal(p.event("Debugger.paused").Params, &e); err != nil || len(e.CallFrames) == 0 {
		t.Fatalf("%+v: %v", e, err)
	}
	undefined("in a pause", "Debugger.evaluateOnCallFrame", fmt.Sprintf(`{"callFrameId":%q,"expression":"typeof debug","includeCommandLineAPI":true}`, e.CallFrames[0].CallFrameID))
}

// TestWorldsCanBeUsedAtOnce makes worlds in new pages, and uses each with the next
// command.
func TestWorldsCanBeUsedAtOnce(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	for range 20 {
		var made struct{ TargetID string }
		p.call("", "Target.createTarget", `{"url":"about:blank"}`, &made)
		var on struct{ SessionID string }
		p.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, made.TargetID), &on)
		var world struct{ ExecutionContextID int64 }
		p.call(on.SessionID, "Page.createIsolatedWorld", fmt.Sprintf(`{"frameId":%q,"worldName":"mine"}`, made.TargetID), &world)
		if m := p.reply(p.send(on.SessionID, "Runtime.evaluate", fmt.Sprintf(`{"expression":"1","contextId":%d}`, world.ExecutionContextID))); m.Error != nil {
			t.Errorf("world %d: %s", world.ExecutionContextID, m.Error.Message)
		}
		p.call("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, made.TargetID), nil)
	}
}
