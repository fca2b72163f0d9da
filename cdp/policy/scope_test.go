package policy

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// site is a session with one page, whose server has a world of its own.
type site struct{ worlds map[int64]World }

func (s *site) Address(text string) (string, error) {
	if text == "refused" {
		return "", errors.New("refused")
	}
	return text, nil
}

func (s *site) World(_ string, id int64, unique string) (World, bool) {
	for number, w := range s.worlds {
		if number == id || id == 0 && w.Unique == unique {
			return w, true
		}
	}
	return World{}, false
}

func (s *site) Veiled(string) bool { return false }

func (s *site) Failure(address, text string) string {
	if address == "http://closed.test:81" && text == "net::ERR_EMPTY_RESPONSE" {
		return "net::ERR_CONNECTION_REFUSED"
	}
	return text
}

// TestWorlds checks what reaches a world: its number, its unique id and its objects, of
// the server's world, of one that the program was told of, of one that only the server
// knows, and of one that nobody knows.
func TestWorlds(t *testing.T) {
	s := NewScope(&site{map[int64]World{1: {Unique: "u.1", Ours: false}, 2: {Unique: "u.2", Ours: true}, 3: {Unique: "u.3", Ours: false}}}, Client, "page", "page")
	told := func(id int64, name string) {
		raw, err := json.Marshal(map[string]any{"context": map[string]any{"id": id, "name": name, "uniqueId": "told." + name}})
		if err != nil {
			t.Fatal(err)
		}
		if shown, _ := s.Visible("Runtime.executionContextCreated", raw); shown == ReservedName(name) {
			t.Errorf("the world %q is shown: %v", name, shown)
		}
	}
	told(1, "")
	told(2, "takeover-utility")
	told(5, "mine") // before the server knows of it
	for id, want := range map[string]bool{"1": true, "2": false, "3": true, "4": false, "5": true, "0": false, "-1": false, "1.0": true, "4294967297": false, "2e0": false} {
		_, err := s.Check("Runtime.evaluate", []byte(`{"expression":"1","contextId":`+id+`}`))
		if (err == nil) != want {
			t.Errorf("context %s: %v", id, err)
		}
	}
	for id, want := range map[string]bool{"9.1.1": true, "9.2.1": false, "9.3.1": true, "9.4.1": false, "9.02.1": false, "9.+1.1": false, "9.4294967298.1": false, "9": true} {
		for _, params := range []string{`{"objectId":"` + id + `"}`, `{"functionDeclaration":"f","executionContextId":1,"arguments":[{"value":[1]},{"objectId":"` + id + `"}]}`} {
			if _, err := s.Check("Runtime.callFunctionOn", []byte(params)); (err == nil) != want {
				t.Errorf("%s: %v", params, err)
			}
		}
	}
	for unique, want := range map[string]bool{"u.1": true, "u.2": false, "told.mine": true} {
		if _, err := s.Check("Runtime.evaluate", []byte(`{"expression":"1","uniqueContextId":"`+unique+`"}`)); (err == nil) != want {
			t.Errorf("unique id %s: %v", unique, err)
		}
	}
	for event, params := range map[string]string{
		"Runtime.exceptionThrown":           `{"exceptionDetails":{"executionContextId":2,"exception":{"objectId":"9.2.1"}}}`,
		"Runtime.consoleAPICalled":          `{"executionContextId":2,"args":[]}`,
		"Runtime.inspectRequested":          `{"executionContextId":2,"object":{"objectId":"9.2.1"}}`,
		"Runtime.bindingCalled":             `{"executionContextId":1,"name":"takeoverReport"}`,
		"Runtime.executionContextDestroyed": `{"executionContextId":2}`,
		"Debugger.scriptParsed":             `{"executionContextId":2}`,
	} {
		if shown, _ := s.Visible(event, []byte(params)); shown {
			t.Errorf("%s of the server's world is shown", event)
		}
	}
	if shown, _ := s.Visible("Runtime.consoleAPICalled", []byte(`{"executionContextId":5,"args":[]}`)); !shown {
		t.Error("the console of the program's own world is hidden")
	}
	for _, params := range []string{`{"scriptId":"1","executionContextId":1}`, `{"scriptId":"1","executionContextId":2}`} {
		if _, err := s.Check("Runtime.runScript", []byte(params)); err == nil {
			t.Errorf("a script runs in a world with a number: %s", params)
		}
	}
	if cmd, err := s.Check("Runtime.runScript", []byte(`{"scriptId":"1","includeCommandLineAPI":true}`)); err != nil || string(cmd.Params) != `{"scriptId":"1"}` {
		t.Errorf("a script runs as %s: %v", cmd.Params, err)
	}
	if cmd, err := s.Check("Runtime.addBinding", []byte(`{"name":"a","executionContextId":5}`)); err != nil || !strings.Contains(string(cmd.Params), `"executionContextName":"mine"`) || strings.Contains(string(cmd.Params), "executionContextId") {
		t.Errorf("a binding is added by %s: %v", cmd.Params, err)
	}
	told(5, "takeover-utility") // the number is given to another world
	if _, err := s.Check("Runtime.evaluate", []byte(`{"contextId":5}`)); err == nil {
		t.Error("a number that was given to the server's world can be named")
	}
	told(5, "mine")
	cmd, err := s.Check("Runtime.disable", nil)
	if err != nil {
		t.Fatal(err)
	}
	told(5, "mine") // on the way
	if err := s.Answered(cmd, nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Check("Runtime.evaluate", []byte(`{"contextId":5}`)); err == nil {
		t.Error("a world can be named of whose end the program is not told")
	}
	if shown, _ := s.Visible("Runtime.bindingCalled", []byte(`{"executionContextId":3,"name":"b"}`)); !shown {
		t.Error("a binding's call is hidden from a program that gets no other events of Runtime")
	}
	if shown, _ := s.Visible("Debugger.paused", []byte(`{"callFrames":[{"callFrameId":"9.4.0"}]}`)); shown {
		t.Error("a pause in a world that nobody knows is shown")
	}
	told(5, "mine")
	s.Visible("Runtime.executionContextDestroyed", []byte(`{"executionContextId":5}`))
	if _, err := s.Check("Runtime.evaluate", []byte(`{"contextId":5}`)); err == nil {
		t.Error("a world that is gone can be named")
	}
	worker := NewScope(&site{}, Client, "w", "worker")
	if _, err := worker.Check("Runtime.evaluate", []byte(`{"expression":"1","contextId":7}`)); err != nil {
		t.Errorf("in a worker: %v", err)
	}
}

// TestNumbersBecomeUniqueIds checks that a world is named so that no other one can be
// meant when the command arrives.
func TestNumbersBecomeUniqueIds(t *testing.T) {
	s := NewScope(&site{map[int64]World{1: {Unique: "u.1", Ours: false}}}, Script, "page", "page")
	for method, member := range map[string]string{"Runtime.evaluate": "contextId", "Runtime.callFunctionOn": "executionContextId"} {
		cmd, err := s.Check(method, []byte(`{"`+member+`":1}`))
		if err != nil || string(cmd.Params) != `{"uniqueContextId":"u.1"}` {
			t.Errorf("%s became %s: %v", method, cmd.Params, err)
		}
		if err := s.Answered(cmd, errors.New("uniqueContextId not found")); err == nil || err.Error() != "Cannot find context with specified id" {
			t.Errorf("%s of a world that is gone: %v", method, err)
		}
	}
}

// TestNamesOfParameters writes the parameters that have a rule in other ways: the name with
// an escape, and beside others. Elsewhere, the same name is the program's own.
func TestNamesOfParameters(t *testing.T) {
	s := NewScope(&site{map[int64]World{1: {Unique: "u.1", Ours: false}}}, Script, "page", "page")
	for _, c := range []struct{ method, params, want string }{
		{"Runtime.evaluate", `{"context\u0049d":1}`, `{"uniqueContextId":"u.1"}`},
		{"Runtime.evaluate", `{"includeCommandLine\u0041PI":true}`, `{}`},
		{"Debugger.evaluateOnCallFrame", `{"includeCommandLineAPI":true}`, `{}`},
		{"Runtime.callFunctionOn", `{"objectId":"1.1.1", "executionContextId":1}`, `{"objectId":"1.1.1","uniqueContextId":"u.1"}`},
		{"Runtime.callFunctionOn", `{"arguments": [{"value":{"includeCommandLineAPI":1}}]}`, `{"arguments": [{"value":{"includeCommandLineAPI":1}}]}`},
	} {
		cmd, err := s.Check(c.method, []byte(c.params))
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.params, err)
			continue
		}
		var object, want map[string]any
		if json.Unmarshal(cmd.Params, &object) != nil || json.Unmarshal([]byte(c.want), &want) != nil || !reflect.DeepEqual(object, want) {
			t.Errorf("%s %s became %s", c.method, c.params, cmd.Params)
		}
	}
	if _, err := s.Check("Runtime.evaluate", []byte(`{"expression":"1","expression":"2"}`)); err == nil {
		t.Error("a name that stands twice is not refused")
	}
}

// TestBindings adds bindings that name no world: they come to the pages' worlds and to
// those that the program makes, in whatever order.
func TestBindings(t *testing.T) {
	s := NewScope(&site{}, Client, "page", "page")
	sent := func(method, params string) (list []string) {
		t.Helper()
		cmd, err := s.Check(method, []byte(params))
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range append(cmd.Before, Call{method, cmd.Params}) {
			var p struct{ Name, ExecutionContextName *string }
			if err := json.Unmarshal(before.Params, &p); err != nil {
				t.Fatal(err)
			}
			if before.Method == "Runtime.addBinding" {
				list = append(list, *p.Name+" in "+*p.ExecutionContextName)
			}
		}
		return list
	}
	equal := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	equal("a world", sent("Page.createIsolatedWorld", `{"frameId":"f","worldName":"w"}`))
	equal("a binding", sent("Runtime.addBinding", `{"name":"a"}`), "a in w", "a in ")
	equal("another world", sent("Page.addScriptToEvaluateOnNewDocument", `{"source":"","worldName":"v"}`), "a in v")
	equal("a binding of one world", sent("Runtime.addBinding", `{"name":"b","executionContextName":"v"}`), "b in v")
	sent("Runtime.removeBinding", `{"name":"a"}`)
	equal("a world without it", sent("Page.createIsolatedWorld", `{"frameId":"f","worldName":"u"}`))
}

// TestShortcutsDoNotRun sends keys whose type runs Chromium's shortcuts, also written in
// ways that a search for the type misses. Chromium gets another type.
func TestShortcutsDoNotRun(t *testing.T) {
	s := NewScope(&site{}, Client, "page", "page")
	for _, kind := range []string{`"rawKeyDown"`, `"raw\u004beyDown"`, `"\u0072awKeyDown"`} {
		cmd, err := s.Check("Input.dispatchKeyEvent", []byte(`{"type":`+kind+`,"key":"N","modifiers":10}`))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Type, Key string }
		if err := json.Unmarshal(cmd.Params, &got); err != nil || got.Type != "keyDown" || got.Key != "N" {
			t.Errorf("%s became %s: %v", kind, cmd.Params, err)
		}
	}
}

// FuzzCheck checks that whatever passes is an object, and that a world of the server
// cannot be named by any spelling.
func FuzzCheck(f *testing.F) {
	f.Add("Runtime.evaluate", `{"expression":"1","contextId":2}`)
	f.Add("Runtime.callFunctionOn", `{"arguments":[{"objectId":"9.2.1"}]}`)
	f.Add("Page.navigate", `{"url":"refused"}`)
	s := NewScope(&site{map[int64]World{1: {Unique: "u.1", Ours: false}, 2: {Unique: "u.2", Ours: true}}}, Client, "page", "page")
	f.Fuzz(func(t *testing.T, method, params string) {
		cmd, err := s.Check(method, []byte(params))
		if err != nil || len(cmd.Params) == 0 {
			return
		}
		var o map[string]any
		if json.Unmarshal(cmd.Params, &o) != nil {
			return // what is not UTF-8 passes, as Chromium reads it
		}
		if o["contextId"] == 2.0 || o["executionContextId"] == 2.0 || o["uniqueContextId"] == "u.2" || o["objectId"] == "9.2.1" {
			t.Errorf("%s %s passed as %s", method, params, cmd.Params)
		}
	})
}

// TestLetGoOn checks what a session is sent when a person takes control and gives it
// back: no pauses meanwhile, and answers to requests that the program has forgotten.
func TestLetGoOn(t *testing.T) {
	s := NewScope(&site{map[int64]World{1: {Unique: "u.1"}}}, Client, "page", "page")
	begin := func(method, params string) {
		t.Helper()
		if err := s.Begin(method, []byte(params)); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, person bool, want ...string) {
		t.Helper()
		var got []string
		for _, call := range s.LetGoOn(person, 0) {
			got = append(got, call.Method+" "+string(call.Params))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	expect("nothing is held", true)
	begin("Debugger.enable", "{}")
	s.Visible("Debugger.paused", []byte(`{"callFrames":[{"callFrameId":"9.1.0"}]}`))
	begin("Fetch.enable", "{}")
	for _, id := range []string{"1", "2", "3"} {
		s.Visible("Fetch.requestPaused", []byte(`{"requestId":"`+id+`"}`))
	}
	s.Visible("Fetch.authRequired", []byte(`{"requestId":"4"}`))
	begin("Fetch.continueRequest", `{"requestId":"1"}`)
	begin("Fetch.failRequest", `{"requestId":"2","errorReason":"Failed"}`)
	if s.LetGoOn(false, 0) != nil || !s.Holds() {
		t.Error("a page goes on although no person is in control")
	}
	expect("a person", true, `Debugger.resume {}`, `Debugger.setSkipAllPauses {"skip":true}`, `Fetch.continueRequest {"requestId":"3"}`,
		`Fetch.continueWithAuth {"authChallengeResponse":{"response":"Default"},"requestId":"4"}`)
	expect("once more", true)
	expect("no person", false, `Debugger.setSkipAllPauses {"skip":false}`)
	begin("Debugger.setSkipAllPauses", `{"skip":true}`)
	expect("a person again", true, `Debugger.setSkipAllPauses {"skip":true}`)
	expect("a program that wants no pauses", false, `Debugger.setSkipAllPauses {"skip":true}`)
	begin("Debugger.disable", "{}")
	expect("without a debugger", true)
	if s.Holds() {
		t.Error("something is still held")
	}
}
