package apidoc

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"takeover/control"
	"takeover/session"
)

// ExampleTime is when what an example is about begins. It ends at exampleEnd, unless a
// limit ends it at exampleLimit.
const (
	ExampleTime  = "2026-05-04T09:30:00.000Z"
	exampleEnd   = "2026-05-04T09:30:01.240Z" // as duration says
	exampleLimit = "2026-05-04T09:35:00.000Z" // as timeout says
)

// exampleValues are values for fields in the examples of answers. A key is the name of a
// field, after the name of its object if only that object's field is meant. Values of
// other kinds than the field are not used; nil is null, an empty list or an empty text.
var exampleValues = map[string]any{
	"id": "5f0c2a9e", "sessionId": "b7d41c6e", "session": "b7d41c6e", "runId": "r1", "takeoverId": "5f0c2a9e", "node": "one", "viewer": "v3",
	"url": "https://example.com/login", "title": "Sign in", "favicon": "https://example.com/favicon.ico", "host": "example.com", "origin": "https://example.com",
	"name": "report.pdf", "mime": "application/pdf", "type": "console_log", "size": 48213, "bytes": 48213, "path": "/report.pdf",
	"status": "live", "state": "pending", "role": "takeover", "source": "download", "message": "Signed in", "text": "Signed in", "level": "info", "method": "GET",
	"reason": "Enter the code from your phone", "note": "signed in", "by": "client", "code": "return page.title()", "language": "javascript", "filename": "sign-in.ts",
	"seq": 12, "timeout": 300000, "timeLeft": 252000, "duration": 1240, "width": 1280, "height": 720, "x": 412, "y": 300, "line": 3, "column": 7,
	"requestedBy": "client:c1", "action": "click", "category": "console", "severity": "warning", "verdict": "pass", "problem": "console-error",
	"taskDescription": "Sign in", "currentUrl": "https://example.com/login", "trajectory_id": "t8c2", "capture_session_id": "c41", "ts": ExampleTime, "ended": ExampleTime, "success": true,
	"sessionViewerUrl": "https://takeover.example/sessions/b7d41c6e", "sessionViewerFullscreenUrl": "https://takeover.example/sessions/b7d41c6e", "debugUrl": "https://takeover.example/sessions/b7d41c6e",
	"websocketUrl": "wss://takeover.example/?sessionId=b7d41c6e", "wsUrl": "wss://takeover.example/?sessionId=b7d41c6e",
	"createdAt": ExampleTime, "userAgent": "Mozilla/5.0 …", "version": "1.0.0", "Session.id": "b7d41c6e", "Run.id": "r1", "Run.status": "succeeded", "Profile.name": "shop", "SavedScript.name": "sign-in.ts",
	"endedAt": exampleEnd, "durationMs": 1240, "expiresAt": exampleLimit, "deadline": exampleLimit, "expires": exampleLimit, "goesOnAt": exampleLimit, "startUrl": "https://example.com/login", "tab": 1, "tabId": 1,
	"webSocketDebuggerUrl": "wss://takeover.example/devtools/browser/b7d41c6e",
	"Session.endedAt":      nil, "Session.endReason": nil, "Tab.state": "live", // it is live
	"Released.id": "b7d41c6e", "Released.status": "released", "Released.endReason": "released", "Released.message": "The session was released.", "Released.controller": nil,
	"ReleaseAll.message": "1 session was released.",
	"Run.takeovers":      nil, "Run.backgroundEvents": nil, "RunTest.title": "signs in", "RunTest.status": "passed", "RunStep.durationMs": 310, "RunTest.durationMs": 1200, // it has succeeded
	"Takeover.claimedBy": nil, "Takeover.claimedAt": nil, "Takeover.endedAt": nil, "Takeover.note": nil, "Takeover.url": "https://takeover.example/takeover/5f0c2a9e#4hK…", // it is pending
	"Link.state": "open", "LinkCreated.state": "open", "LinkCreated.url": "https://takeover.example/sessions/b7d41c6e#4hK…", "Link.visits": nil, "LinkCreated.visits": nil,
	"LinkGrant.linkId": "5f0c2a9e", "LinkGrant.visit": 1,
	"Node.name": "one", "Member.name": "one", "Target.type": "page", "HeldAction.name": "click",
	"Delivery.type": "takeover.created", "Delivery.lastError": nil, "Status.name": "on-call", "Status.lastError": nil,
}

// deepList is how deep in an example a list is empty.
const deepList = 2

// Example returns the body of an example of an answer of a type, or of a page of a list
// with that name if list is not "". It returns "" if the answer is not JSON (t is nil) or
// may have any fields.
func Example(t reflect.Type, list string) string {
	if t == nil || t.Kind() == reflect.Map {
		return ""
	}
	e := exampleWriter{}
	if list == "" {
		e.value(t, "", nil)
	} else {
		e.out.WriteString(`{"` + list + `":[`)
		e.value(t, "", nil)
		e.out.WriteString(`],"next":null}`)
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, []byte(e.out.String()), "", "  "); err != nil {
		panic("an example is not JSON: " + err.Error()) // the tests write all of them
	}
	return lines.String()
}

// exampleWriter writes examples as JSON.
type exampleWriter struct {
	out    strings.Builder
	inside []reflect.Type // the structs around the present value
}

// value writes a value of a type, for the field of a name in the innermost struct.
func (e *exampleWriter) value(t reflect.Type, name string, bounds Object) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if given, ok := e.given(t, name, bounds); ok {
		text, err := json.Marshal(given)
		if err != nil {
			panic(err) // the tables have only texts, numbers and booleans
		}
		e.out.Write(text)
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		e.out.WriteString("false")
	case reflect.String:
		e.out.WriteString(`"…"`)
	case reflect.Slice, reflect.Array:
		e.out.WriteByte('[')
		if len(e.inside) < deepList && IsObject(Element(t)) && !slices.Contains(e.inside, Element(t)) {
			e.value(t.Elem(), "", nil)
		}
		e.out.WriteByte(']')
	case reflect.Map:
		e.out.WriteString("{}")
	case reflect.Struct:
		e.fields(t)
	case reflect.Interface:
		e.out.WriteString("null")
	default:
		e.out.WriteString("0")
	}
}

// given returns the value that a table, a bound or a type gives for a field.
func (e *exampleWriter) given(t reflect.Type, name string, bounds Object) (any, bool) {
	listed, _ := e.listed(name)
	switch {
	case t == reflect.TypeFor[time.Time]():
		if at, ok := listed.(string); ok {
			return at, true
		}
		return ExampleTime, true
	case t == reflect.TypeFor[json.RawMessage](), t == reflect.TypeFor[jsontext.Value]():
		return Object{}, true
	case t == reflect.TypeFor[session.Role]():
		return "takeover", true
	case t == reflect.TypeFor[control.Holder]():
		return "client:c1", true
	}
	isText := t.Kind() == reflect.String || t.Implements(textMarshaler)
	if words, ok := bounds["enum"].([]string); ok && isText {
		return words[0], true
	}
	for _, value := range []any{listed, exampleValues[name], bounds["default"]} {
		switch value.(type) {
		case string:
			if isText {
				return value, true
			}
		case int, int64, float64:
			if t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 {
				return value, true
			}
		case bool:
			if t.Kind() == reflect.Bool {
				return value, true
			}
		}
	}
	return "…", isText
}

// listed returns what the table has for a field of the innermost struct, or for all fields
// of its name.
func (e *exampleWriter) listed(name string) (any, bool) {
	if len(e.inside) > 0 {
		if value, ok := exampleValues[Component(e.inside[len(e.inside)-1])+"."+name]; ok {
			return value, true
		}
	}
	value, ok := exampleValues[name]
	return value, ok
}

// noneOf returns the JSON of a field of a type that has no value.
func noneOf(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return "null"
	case t.Kind() == reflect.Slice:
		return "[]"
	}
	return `""`
}

// fields writes an object. Of the fields that may be missing, it has only plain ones with
// a value in the tables.
func (e *exampleWriter) fields(t reflect.Type) {
	e.inside = append(e.inside, t)
	defer func() { e.inside = e.inside[:len(e.inside)-1] }()
	e.out.WriteByte('{')
	first := true
	for _, field := range Fields(t) {
		if !field.Always && !e.known(field) || slices.Contains(e.inside, field.Kind) {
			continue
		}
		if !first {
			e.out.WriteByte(',')
		}
		first = false
		e.out.WriteString(`"` + field.Name + `":`)
		if value, ok := e.listed(field.Name); ok && value == nil {
			e.out.WriteString(noneOf(field.Kind))
			continue
		}
		if field.Kind.Kind() == reflect.Pointer && IsObject(Element(field.Kind)) {
			e.out.WriteString("null") // as if there were none
			continue
		}
		e.value(field.Kind, field.Name, field.Bounds)
	}
	e.out.WriteByte('}')
}

// known reports whether the tables have a value for a field. Most times that may be missing
// are of an end, which an example has not reached.
func (e *exampleWriter) known(field Field) bool {
	value, ok := e.given(Element(field.Kind), field.Name, field.Bounds)
	return ok && value != "…" && Element(field.Kind) != reflect.TypeFor[time.Time]() && field.Kind.Kind() != reflect.Slice
}
