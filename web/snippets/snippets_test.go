package snippets

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestLiteral writes JSON values in each style.
func TestLiteral(t *testing.T) {
	long := `{"first": "` + strings.Repeat("a", widest) + `", "b-c": [true, null]}`
	for _, c := range []struct {
		value string
		in    style
		want  string
	}{
		{`{"a": 1, "b-c": "it's", "d": [true, null, 2.50]}`, jsStyle, `{ a: 1, 'b-c': 'it\'s', d: [true, null, 2.50] }`},
		{`{"a": 1, "b-c": "it's", "d": [true, null]}`, pythonStyle, `{"a": 1, "b-c": "it's", "d": [True, None]}`},
		{`{"z": false, "a": {"y": "\"<\\n>\""}}`, jsonStyle, `{"z": false, "a": {"y": "\"<\\n>\""}}`},
		{`{"z": {}, "a": []}`, jsStyle, `{ z: {}, a: [] }`},
		{long, pythonStyle, "{\n    \"first\": \"" + strings.Repeat("a", widest) + "\",\n    \"b-c\": [True, None]\n}"},
		{"no JSON", jsStyle, "no JSON"},
		{`{} {}`, jsStyle, `{} {}`},
	} {
		if got := literal(c.value, c.in); got != c.want {
			t.Errorf("%s becomes\n%s, want\n%s", c.value, got, c.want)
		}
	}
}

// TestOf writes calls of all kinds. Tests of package web run such programs.
func TestOf(t *testing.T) {
	for name, c := range map[string]Call{
		"get":    {Base: "http://h", Method: "GET", Path: "/a/{SESSION}/b?c=d"},
		"post":   {Base: "http://h", Method: "POST", Path: "/a", Mime: "application/json", Body: `{"text": "it's ` + "`" + `$5` + "`" + `"}`},
		"upload": {Base: "http://h", Method: "POST", Path: "/a", Mime: "application/octet-stream", Body: "hello", Answer: File, File: "a.bin"},
		"open":   {Base: "http://h", Method: "GET", Path: "/a", Open: true, Answer: Text},
		"stream": {Base: "http://h", Method: "GET", Path: "/a", Answer: Stream},
		"delete": {Base: "http://h", Method: "DELETE", Path: "/a/{LINK}", Answer: Empty},
		"socket": {Base: "http://h", Method: "GET", Path: "/a/{SESSION}", Answer: Socket, Body: `{"id": 1}`, Subprotocol: "p.v1"},
	} {
		list := Of(c)
		if want := len(Languages); len(list) != want && (c.Answer != Socket || len(list) != want-1) {
			t.Errorf("%s: %d programs", name, len(list))
		}
		for _, one := range list {
			if strings.Contains(one.Code, "Authorization") == c.Open && c.Answer != Socket {
				t.Errorf("%s in %s: the key is sent to an open call, or not to another:\n%s", name, one.Label, one.Code)
			}
			if one.Language != "go" {
				continue
			}
			if _, err := parser.ParseFile(token.NewFileSet(), name, one.Code, parser.AllErrors); err != nil {
				t.Errorf("%s: %v\n%s", name, err, one.Code)
			}
		}
	}
	post := Of(Call{Base: "http://h", Method: "POST", Path: "/a/{SESSION}", Mime: "application/json", Body: `{"text": "it's"}`})
	for i, want := range []string{
		"curl \"http://h/a/$SESSION\" \\\n  -H \"Authorization: Bearer $TAKEOVER_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{\"text\": \"it'\\''s\"}'",
		"body: JSON.stringify({ text: 'it\\'s' })",
		`data=json.dumps({"text": "it's"}).encode()`,
		"strings.NewReader(`{\"text\": \"it's\"}`)",
	} {
		if !strings.Contains(post[i].Code, want) {
			t.Errorf("in %s:\n%s\nwant\n%s", post[i].Label, post[i].Code, want)
		}
	}
}
