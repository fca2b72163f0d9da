package web

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"takeover/web/apidoc"
)

// TestExampleAnswers checks that each example of an answer is a value of its type, and
// how an example of a takeover reads.
func TestExampleAnswers(t *testing.T) {
	s := startServer(t, nil)
	for _, r := range s.table {
		text := apidoc.Example(reflect.TypeOf(r.answers.body), r.answers.list)
		if text == "" {
			if r.answers.body != nil && reflect.TypeOf(r.answers.body).Kind() != reflect.Map {
				t.Errorf("%s has no example of its answer", r.name)
			}
			continue
		}
		body := []byte(text)
		if r.answers.list != "" {
			var page map[string]json.RawMessage
			if err := json.Unmarshal(body, &page); err != nil {
				t.Fatal(err)
			}
			var items []json.RawMessage
			if err := json.Unmarshal(page[r.answers.list], &items); err != nil || len(items) != 1 {
				t.Fatalf("%s: %d items: %v", r.name, len(items), err)
			}
			body = items[0]
		}
		strict := json.NewDecoder(bytes.NewReader(body))
		strict.DisallowUnknownFields()
		if err := strict.Decode(reflect.New(reflect.TypeOf(r.answers.body)).Interface()); err != nil {
			t.Errorf("%s: %v in\n%s", r.name, err, body)
		}
		if lines := strings.Count(text, "\n"); lines > 80 {
			t.Errorf("the example of %s has %d lines", r.name, lines)
		}
	}
}

// TestExampleAnswersAreReadable checks how an answer, a list and a call with an empty
// answer read.
func TestExampleAnswersAreReadable(t *testing.T) {
	type part struct {
		Name string `json:"name"`
	}
	type whole struct {
		ID      string    `json:"id"`
		Kind    string    `json:"kind" one:"first,second"`
		Most    int       `json:"most" default:"7"`
		At      time.Time `json:"at"`
		Parts   []part    `json:"parts"`
		Other   *part     `json:"other,omitempty"`
		Reason  string    `json:"reason,omitempty"`
		Unknown string    `json:"unknown,omitempty"`
	}
	body := `{"id":"5f0c2a9e","kind":"first","most":7,"at":"` + apidoc.ExampleTime + `","parts":[{"name":"report.pdf"}],"reason":"Enter the code from your phone"}`
	for want, a := range map[string]answer{
		"":                                      {status: 204},
		body:                                    {body: whole{}},
		`{"wholes":[` + body + `],"next":null}`: {body: whole{}, list: "wholes"},
	} {
		var got bytes.Buffer
		if text := apidoc.Example(reflect.TypeOf(a.body), a.list); text != "" {
			if err := json.Compact(&got, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != want {
			t.Errorf("got %s, want %s", got.String(), want)
		}
	}
}

// TestDocsMarkdown checks what agents read of a group, and of everything.
func TestDocsMarkdown(t *testing.T) {
	s := startServer(t, nil)
	text := s.docsPage("/docs.md?group=takeovers")
	for _, want := range []string{
		"## Takeovers\n", "### POST /v1/sessions/:id/takeovers\n\nAsk for a person. (needs a key)\n", "- `reason` (string, required): ", "Returns 201 Takeover\n", " 409 conflict",
		`-d '{"reason": "Enter the code from your phone"`, `"state": "pending"`, "### Takeover\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	whole := s.docsPage("/docs.md")
	for _, r := range s.table {
		if has := strings.Contains(whole, "### "+r.method+" "+r.path+"\n"); has == (r.answers.mime == mimeHTML) && docsSections[docsSection(r)].id != docsPages {
			t.Errorf("%s %s is described: %v", r.method, r.path, has)
		}
	}
	if got := s.do(request{method: "GET", path: "/docs.md?group=none"}); got.status != 404 {
		t.Errorf("a group that does not exist: status %d", got.status)
	}
}
