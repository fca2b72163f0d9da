package automation_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
)

// command sends a command on a script's own session.
func (r *rig) command(session, method string, p any) (map[string]any, error) {
	r.Helper()
	var out struct{ Result map[string]any }
	err := r.call("cdp.send", params{"session": session, "method": method, "params": p, "timeout": 10_000}, &out)
	return out.Result, err
}

func (r *rig) attach() string {
	r.Helper()
	var out struct{ Session string }
	r.do("cdp.attach", params{"page": r.page}, &out)
	return out.Session
}

func TestCDPSession(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title><iframe></iframe>"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	session := r.attach()
	result, err := r.command(session, "Runtime.evaluate", params{"expression": "6 * 7"})
	equal(t, "evaluate", fmt.Sprint(result["result"], err), "map[description:42 type:number value:42] <nil>")
	if _, err := r.command(session, "Runtime.enable", nil); err != nil {
		t.Fatal(err)
	}
	r.eval("console.log('hey')")
	var ev struct {
		P struct{ Session, Method string }
	}
	r.await("cdp.event", &ev)
	equal(t, "event", ev.P.Session, session)
	_, err = r.command(session, "Foo.bar", nil)
	equal(t, "unknown", fmt.Sprint(err), "Protocol error (Foo.bar): 'Foo.bar' wasn't found")
	equal(t, "frame of the page's own process", fmt.Sprint(r.call("cdp.attach", params{"frame": r.child()}, nil)),
		"This frame does not have a separate CDP session, it is a part of the parent frame's session")
	r.do("cdp.detach", params{"session": session}, nil)
	_, err = r.command(session, "Runtime.enable", nil)
	equal(t, "detached", fmt.Sprint(err), "Target page, context or browser has been closed")
}

func TestCDPSessionOfClosedPage(t *testing.T) {
	r := newRig(t)
	session := r.attach()
	r.do("page.close", params{}, nil)
	var closed struct{ P struct{ Session string } }
	r.await("cdp.closed", &closed)
	equal(t, "closed", closed.P.Session, session)
}

// child returns the id of the newest child frame.
func (r *rig) child() string {
	r.Helper()
	var attached struct{ P struct{ Frame string } }
	r.await("frame.attached", &attached)
	return attached.P.Frame
}

// TestCDPSessionAttacks checks that no command gives a script the machine's
// files, other contexts or the browser.
func TestCDPSessionAttacks(t *testing.T) {
	s := site(t, map[string]string{"/": `<title>t</title><input type="file" ondrop="window.dropped = event.dataTransfer.files.length">`})
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	session := r.attach()
	_, err := r.command(session, "DOM.enable", nil)
	if err != nil {
		t.Fatal(err)
	}
	file := "file://" + secret
	for _, attack := range []struct {
		method string
		params params
	}{
		{"Page.navigate", params{"url": file}},
		{"Page.navigate", params{"url": " FILE:" + secret}},
		{"Page.navigate", params{"url": "chrome://version"}},
		{"Page.navigate", params{"url": []string{file}}},
		{"Network.loadNetworkResource", params{"url": file, "options": params{"disableCache": true, "includeCredentials": true}}},
		{"Fetch.continueRequest", params{"requestId": "1", "url": file}},
		{"DOM.setFileInputFiles", params{"files": []string{secret}, "nodeId": 1}},
		{"DOM.getFileInfo", params{"objectId": "1"}},
		{"Input.dispatchDragEvent", params{"type": "drop", "x": 20, "y": 20, "data": params{"items": []any{}, "files": []string{secret}, "dragOperationsMask": 1}}},
		{"Page.setDownloadBehavior", params{"behavior": "allow", "downloadPath": dir}},
		{"Browser.setDownloadBehavior", params{"behavior": "allow", "downloadPath": dir}},
		{"Browser.close", nil}, {"Browser.crash", nil}, {"Browser.crashGpuProcess", nil}, {"Browser.getBrowserCommandLine", nil},
		{"Browser.grantPermissions", params{"permissions": []string{"geolocation"}}},
		{"Target.createTarget", params{"url": file}}, {"Target.getTargets", nil}, {"Target.attachToBrowserTarget", nil},
		{"Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": false}},
		{"Target.sendMessageToTarget", params{"message": `{"id":1,"method":"Browser.close"}`}},
		{"Target.exposeDevToolsProtocol", params{"targetId": "x"}}, {"Target.setRemoteLocations", params{"locations": []any{}}},
		{"Target.getTargetInfo", params{"targetId": "another"}},
		{"SystemInfo.getInfo", nil}, {"Tethering.bind", params{"port": 9999}}, {"Extensions.loadUnpacked", params{"path": dir}},
		{"Page.createIsolatedWorld", params{"frameId": "x", "grantUniveralAccess": true}},
		{"Tracing.start", params{"perfettoConfig": "AA=="}}, {"Tracing.start", params{"tracingBackend": "system"}},
		{"Storage.getCookies", params{"browserContextId": "another"}}, {"Storage.overrideQuotaForOrigin", params{"origin": s.URL, "quotaSize": 1 << 50}},
		{"Input.setIgnoreInputEvents", params{"ignore": true}}, {"Input.synthesizeTapGesture", params{"x": 5, "y": 5, "duration": 5000, "tapCount": 9}},
		{"PWA.install", params{"manifestId": "x"}}, {"Cast.enable", nil}, {"DeviceAccess.enable", nil},
	} {
		_, err := r.command(session, attack.method, attack.params)
		if err == nil || strings.Contains(err.Error(), "Protocol error") {
			raw, _ := json.Marshal(attack.params)
			t.Errorf("%s %s was sent: %v", attack.method, raw, err)
		}
	}
	equal(t, "the page", r.eval("[document.title, document.querySelector('input').files.length, window.dropped ?? 0]"), []any{"t", 0, 0})
	// Keys from the session act on the page, and do not trigger the browser's
	// shortcuts.
	if _, err := r.command(session, "Input.dispatchKeyEvent", params{"type": "rawKeyDown", "key": "u", "code": "KeyU", "windowsVirtualKeyCode": 85, "modifiers": 2}); err != nil {
		t.Error(err)
	}
	if info, err := r.command(session, "Target.getTargetInfo", nil); err != nil || fmt.Sprint(info["targetInfo"]) == "" {
		t.Errorf("its own target: %v, %v", info, err)
	}
}

// TestCDPSessionEnds checks that what a session did to the page ends with it.
func TestCDPSessionEnds(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.openIn(params{"viewport": params{"width": 500, "height": 400}, "colorScheme": "dark", "locale": "fr-FR", "userAgent": "me/1", "hasTouch": true})
	r.do("frame.goto", params{"url": s.URL}, nil)
	look := "[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, navigator.language, navigator.userAgent, navigator.maxTouchPoints > 0]"
	before := r.eval(look)
	session := r.attach()
	for method, p := range map[string]params{
		"Emulation.setDeviceMetricsOverride": {"width": 300, "height": 300, "deviceScaleFactor": 1, "mobile": false},
		"Emulation.setEmulatedMedia":         {"media": "print", "features": []params{{"name": "prefers-color-scheme", "value": "light"}}},
		"Emulation.setUserAgentOverride":     {"userAgent": "other/1", "acceptLanguage": "de"},
		"Emulation.setTouchEmulationEnabled": {"enabled": false},
		"Page.setWebLifecycleState":          {"state": "active"},
		"Debugger.enable":                    {},
	} {
		if _, err := r.command(session, method, p); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	if _, err := r.command(session, "Debugger.pause", nil); err != nil {
		t.Error(err)
	}
	r.do("cdp.detach", params{"session": session}, nil)
	equal(t, "as before", r.eval(look), before)
}

// TestCDPSessionWorlds checks that a script's session does not reach the worlds in
// which the server's own scripts run.
func TestCDPSessionWorlds(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	session := r.attach()
	frame := r.browser.Pages()[len(r.browser.Pages())-1].MainFrame()
	ours, err := frame.World(t.Context(), browser.WorldUtility)
	if err != nil {
		t.Fatal(err)
	}
	own, err := frame.World(t.Context(), browser.WorldMain)
	if err != nil {
		t.Fatal(err)
	}
	const mute = "globalThis.takeoverReport = () => {}; 1"
	for _, attack := range []struct {
		method string
		params params
	}{
		{"Runtime.evaluate", params{"expression": mute, "contextId": ours.ContextID()}},
		{"Runtime.evaluate", params{"expression": mute, "uniqueContextId": ours.UniqueID()}},
		{"Runtime.callFunctionOn", params{"functionDeclaration": "() => 1", "executionContextId": ours.ContextID()}},
		{"Runtime.compileScript", params{"expression": mute, "sourceURL": "", "persistScript": true, "executionContextId": ours.ContextID()}},
		{"Page.createIsolatedWorld", params{"frameId": frame.ID(), "worldName": "__takeover_capture"}},
		{"Page.addScriptToEvaluateOnNewDocument", params{"source": mute, "worldName": "__takeover_capture"}},
		{"Runtime.addBinding", params{"name": "takeoverReport"}},
		{"Runtime.addBinding", params{"name": "x", "executionContextName": "__takeover_capture"}},
	} {
		if _, err := r.command(session, attack.method, attack.params); err == nil || !strings.Contains(err.Error(), "is not available in Takeover: the ") && !strings.Contains(err.Error(), "Cannot find context with specified id") {
			t.Errorf("%s %v: %v", attack.method, attack.params, err)
		}
	}
	if _, err := r.command(session, "Runtime.addBinding", params{"name": "Intl"}); err != nil {
		t.Fatal(err)
	}
	bound := func(w *browser.World) string {
		value, err := w.Call(t.Context(), browser.CallOptions{Function: "() => typeof Intl", ByValue: true})
		if err != nil {
			t.Fatal(err)
		}
		return string(value.Value)
	}
	equal(t, "a binding in the page's world", bound(own), `"function"`)
	equal(t, "a binding in the server's world", bound(ours), `"object"`)
	result, err := r.command(session, "Runtime.evaluate", params{"expression": "6 * 7", "contextId": own.ContextID()})
	equal(t, "the page's own world", fmt.Sprint(result["result"], err), "map[description:42 type:number value:42] <nil>")
	if _, err := r.command(session, "Runtime.enable", nil); err != nil {
		t.Fatal(err)
	}
	r.eval("console.log('end')")
	for {
		var ev struct {
			P struct {
				Method string
				Params json.RawMessage
			}
		}
		r.next("cdp.event", &ev)
		if strings.Contains(string(ev.P.Params), "takeover") {
			t.Errorf("%s %s", ev.P.Method, ev.P.Params)
		}
		if ev.P.Method == "Runtime.consoleAPICalled" {
			break
		}
	}
}

// TestCDPSessionPauses lets a script pause the page while the server's own code runs
// in it: the script hears of the next pause outside of that code.
func TestCDPSessionPauses(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	session := r.attach()
	ours, err := r.browser.Pages()[len(r.browser.Pages())-1].MainFrame().World(t.Context(), browser.WorldUtility)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"Debugger.enable", "Debugger.pause"} {
		if _, err := r.command(session, method, nil); err != nil {
			t.Fatal(err)
		}
	}
	value, err := ours.Call(browsertest.Context(t, "the server's own code"), browser.CallOptions{Function: "() => { let n = 0; for (let i = 0; i < 5; i++) n += i; return n }", ByValue: true})
	equal(t, "the server's own code", fmt.Sprint(string(value.Value), err), "10<nil>")
	var paused atomic.Bool
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !paused.Load() { // the page is told to pause again only after the server's own code
			_, err = r.command(session, "Runtime.evaluate", params{"expression": "(function mine() { return 1 })()"})
		}
		ended <- err
	}()
	var ev struct {
		P struct {
			Method string
			Params struct {
				CallFrames []struct{ CallFrameID string }
			}
		}
	}
	for ev.P.Method != "Debugger.paused" {
		r.next("cdp.event", &ev)
	}
	paused.Store(true)
	id := ev.P.Params.CallFrames[0].CallFrameID
	equal(t, "the world", strings.Split(id, ".")[1] == fmt.Sprint(ours.ContextID()), false)
	if _, err := r.command(session, "Debugger.evaluateOnCallFrame", params{"callFrameId": id, "expression": "1"}); err != nil {
		t.Error(err)
	}
	if _, err := r.command(session, "Debugger.resume", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for method, p := range map[string]params{
		"Debugger.evaluateOnCallFrame":         {"callFrameId": id, "expression": "1"},
		"Debugger.setVariableValue":            {"callFrameId": id, "scopeNumber": 0, "variableName": "a", "newValue": params{}},
		"Debugger.setReturnValue":              {"newValue": params{}},
		"Debugger.setScriptSource":             {"scriptId": "1", "scriptSource": ""},
		"Debugger.setBreakpointByUrl":          {"lineNumber": 0, "url": "evaluator", "condition": "1"},
		"Debugger.setBreakpointOnFunctionCall": {"objectId": "1", "condition": "1"},
	} {
		if _, err := r.command(session, method, p); err == nil || !strings.Contains(err.Error(), "is not available in Takeover") {
			t.Errorf("%s: %v", method, err)
		}
	}
}
