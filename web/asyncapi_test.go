package web

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// asyncRef is a reference within an AsyncAPI document.
type asyncRef struct {
	Ref string `json:"$ref"`
}

// TestAsyncAPI checks that /asyncapi.json lists each message of the viewer's socket with
// its fields, that it has what AsyncAPI 3.0 asks for, and that each reference leads
// somewhere.
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
	viewer := doc.Channels["viewer"]
	if viewer.Address != "/v1/sessions/{id}/view" || viewer.Parameters["id"] == nil {
		t.Errorf("the channel: %+v", viewer)
	}
	if i := slices.IndexFunc(s.table, func(r route) bool { return r.name == "view" }); i < 0 {
		t.Error("no route of viewers")
	} else if path, _ := specPath(s.table[i].path); path != viewer.Address {
		t.Errorf("viewers connect at %s", path)
	}

	lists := func(operation, action, kind string, fields []messageField) {
		id := operation + "." + kind
		op := doc.Operations[operation]
		if op.Action != action || op.Channel.Ref != "#/channels/viewer" || !slices.Contains(op.Messages, asyncRef{"#/channels/viewer/messages/" + id}) {
			t.Errorf("%s is not in the operation", id)
		}
		if viewer.Messages[id].Ref != "#/components/messages/"+id {
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
			if m.Payload.Properties[f.name] == nil {
				t.Errorf("%s lacks the field %s", id, f.name)
			}
			if always := operation == "fromServer" && !f.optional; slices.Contains(m.Payload.Required, f.name) != always {
				t.Errorf("%s requires %s: %v, want %v", id, f.name, !always, always)
			}
		}
	}
	for kind, m := range viewerMessages {
		lists("fromClient", "receive", kind, fieldsOf(reflect.TypeOf(m.message)))
	}
	for kind, m := range serverMessages {
		lists("fromServer", "send", kind, fieldsOf(reflect.TypeOf(m.message)))
	}
	if got, want := len(doc.Components.Messages), len(viewerMessages)+len(serverMessages)+1; got != want || len(viewer.Messages) != want {
		t.Errorf("%d messages, of the channel %d, want %d with the picture", got, len(viewer.Messages), want)
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
	if len(refs) < 2*len(viewer.Messages) {
		t.Errorf("only %d references", len(refs))
	}
	if page := string(s.do(request{method: "GET", path: "/docs"}).body); !strings.Contains(page, `href="/asyncapi.json"`) {
		t.Error("/docs does not link to /asyncapi.json")
	}
}
