package web

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"takeover/door/viewer"
	"takeover/web/apidoc"
)

// asyncRef is a reference within an AsyncAPI document.
type asyncRef struct {
	Ref string `json:"$ref"`
}

// TestAsyncAPI checks that /asyncapi.json lists each message of the viewer's socket and
// of the command socket with its fields, that it has what AsyncAPI 3.0 asks for, and
// that each reference leads somewhere.
func TestAsyncAPI(t *testing.T) {
	s := startServer(t, nil)
	var doc struct {
		AsyncAPI string `json:"asyncapi"`
		Info     struct{ Title, Version string }
		Channels map[string]struct {
			Address    string
			Parameters map[string]any
			Messages   map[string]asyncRef
		}
		Operations map[string]struct {
			Action   string
			Channel  asyncRef
			Messages []asyncRef
		}
		Components struct {
			Messages map[string]struct {
				Name, Summary string
				Payload       struct {
					Type       string
					Properties map[string]map[string]any
					Required   []string
				}
			}
		}
	}
	s.call("GET", "/asyncapi.json", nil, 200, &doc)
	if doc.AsyncAPI != "3.0.0" || doc.Info.Title == "" || doc.Info.Version == "" {
		t.Errorf("asyncapi %q, info %+v", doc.AsyncAPI, doc.Info)
	}
	people := doc.Channels["viewer"]
	if people.Address != "/v1/sessions/{id}/view" || people.Parameters["id"] == nil {
		t.Errorf("the channel: %+v", people)
	}
	if i := slices.IndexFunc(s.table, func(r route) bool { return r.name == "view" }); i < 0 {
		t.Error("no route of viewers")
	} else if path, _ := specPath(s.table[i].path); path != people.Address {
		t.Errorf("viewers connect at %s", path)
	}

	lists := func(operation, action, kind string, fields []apidoc.Field) {
		fields = slices.DeleteFunc(fields, func(f apidoc.Field) bool { return f.Name == "type" }) // which all have
		id := operation + "." + kind
		op := doc.Operations[operation]
		if op.Action != action || op.Channel.Ref != "#/channels/viewer" || !slices.Contains(op.Messages, asyncRef{"#/channels/viewer/messages/" + id}) {
			t.Errorf("%s is not in the operation", id)
		}
		if people.Messages[id].Ref != "#/components/messages/"+id {
			t.Errorf("%s is not in the channel", id)
		}
		m, ok := doc.Components.Messages[id]
		if !ok || m.Name != kind || m.Summary == "" || m.Payload.Type != "object" || m.Payload.Properties["type"]["const"] != kind {
			t.Errorf("%s is described as %+v", id, m)
		}
		if len(m.Payload.Properties) != len(fields)+1 {
			t.Errorf("%s has fields %v, want type and %v", id, m.Payload.Properties, fields)
		}
		for _, f := range fields {
			if m.Payload.Properties[f.Name] == nil {
				t.Errorf("%s lacks the field %s", id, f.Name)
			}
			if always := operation == "fromServer" && f.Always; slices.Contains(m.Payload.Required, f.Name) != always {
				t.Errorf("%s requires %s: %v, want %v", id, f.Name, !always, always)
			}
		}
	}
	for kind, m := range viewer.Received {
		lists("fromClient", "receive", kind, apidoc.Fields(reflect.TypeOf(m.Empty)))
	}
	for kind, m := range viewer.Sent {
		lists("fromServer", "send", kind, apidoc.Fields(reflect.TypeOf(m.Empty)))
	}
	if got, want := len(people.Messages), len(viewer.Received)+len(viewer.Sent)+1; got != want {
		t.Errorf("%d messages of viewers, want %d with the picture", got, want)
	}

	program := doc.Channels["commands"]
	if i := slices.IndexFunc(s.table, func(r route) bool { return r.name == "commands" }); i < 0 {
		t.Error("no route of commands")
	} else if path, _ := specPath(s.table[i].path); path != program.Address || program.Parameters["id"] == nil {
		t.Errorf("commands are sent to %s, and the channel is %+v", path, program)
	}
	for id, want := range map[string]struct{ action, fields, required string }{
		"commandsFromClient.command":       {"receive", "args commandId method tab type", "commandId method type"},
		"commandsFromServer.commandResult": {"send", "commandId error result type", "commandId type"},
		"commandsFromServer.error":         {"send", "error type", "error type"},
	} {
		operation, kind, _ := strings.Cut(id, ".")
		op, m := doc.Operations[operation], doc.Components.Messages[id]
		if op.Action != want.action || op.Channel.Ref != "#/channels/commands" || !slices.Contains(op.Messages, asyncRef{"#/channels/commands/messages/" + id}) ||
			program.Messages[id].Ref != "#/components/messages/"+id {
			t.Errorf("%s is not in its operation and the channel", id)
		}
		fields, required := slices.Sorted(maps.Keys(m.Payload.Properties)), slices.Sorted(slices.Values(m.Payload.Required))
		if m.Name != kind || m.Summary == "" || m.Payload.Properties["type"]["const"] != kind || strings.Join(fields, " ") != want.fields || strings.Join(required, " ") != want.required {
			t.Errorf("%s is described as %+v", id, m)
		}
	}
	if len(program.Messages) != 3 || len(doc.Components.Messages) != len(people.Messages)+3 {
		t.Errorf("%d messages of commands, and %d in all", len(program.Messages), len(doc.Components.Messages))
	}
	chain, _ := doc.Components.Messages["commandsFromClient.command"].Payload.Properties["method"]["oneOf"].([]any)
	if len(chain) != 2 {
		t.Errorf("a method is %v", chain)
	}

	var whole map[string]any
	raw := s.do(request{method: "GET", path: "/asyncapi.json"})
	raw.decode(&whole)
	refs := regexp.MustCompile(`"\$ref": "#/([^"]+)"`).FindAllSubmatch(raw.body, -1)
	for _, ref := range refs {
		at := any(whole)
		for part := range strings.SplitSeq(string(ref[1]), "/") {
			inner, _ := at.(map[string]any)
			at = inner[part]
		}
		if at == nil {
			t.Errorf("%s leads nowhere", ref[1])
		}
	}
	if len(refs) < 2*len(doc.Components.Messages) {
		t.Errorf("only %d references", len(refs))
	}
	if page := string(s.do(request{method: "GET", path: "/docs"}).body); !strings.Contains(page, `href="/asyncapi.json"`) {
		t.Error("/docs does not link to /asyncapi.json")
	}
}
