package redact

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"takeover/text"
)

// lines reads a table in testdata, one text per line.
func lines(t testing.TB, name string) []string {
	t.Helper()
	all, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(all)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			texts = append(texts, strings.ReplaceAll(line, `\n`, "\n"))
		}
	}
	return texts
}

// marker splits a text from secrets.txt into the text and its secret.
func marker(t testing.TB, line string) (text, secret string) {
	t.Helper()
	_, rest, ok := strings.Cut(line, "«")
	secret, _, ok2 := strings.Cut(rest, "»")
	if !ok || !ok2 || secret == "" {
		t.Fatalf("no secret in %q", line)
	}
	return strings.NewReplacer("«", "", "»", "").Replace(line), secret
}

// outputs are the ways in which a page's text reaches a reader.
var outputs = map[string]func(r *Redactor, text string) string{
	"text":               func(r *Redactor, text string) string { return r.Text(text) },
	"member of an event": func(r *Redactor, text string) string { return eventWith(r, map[string]any{"text": text}) },
	"list of an event": func(r *Redactor, text string) string {
		return eventWith(r, map[string]any{"args": []any{text, 1, text}})
	},
	"JSON in a member": func(r *Redactor, text string) string {
		inner, _ := json.Marshal(map[string]any{"a": []any{text}})
		return eventWith(r, map[string]any{"post_data": string(inner)})
	},
	"line of a log": func(r *Redactor, text string) string { return r.Text("12:00:01 page said: " + text + "\n") },
	"cut-off JSON":  func(r *Redactor, text string) string { return r.Text(`{"a":"b", "list": [` + "\n" + text + "\n") },
}

func eventWith(r *Redactor, data map[string]any) string {
	raw, _ := json.Marshal(data)
	out := r.Document(raw)
	if !json.Valid(out) {
		return "not JSON: " + string(raw)
	}
	var all any
	_ = json.Unmarshal(out, &all)
	return flat(all)
}

// flat returns all strings and numbers of a JSON value.
func flat(v any) string {
	switch v := v.(type) {
	case map[string]any:
		out := ""
		for _, member := range v {
			out += flat(member)
		}
		return out
	case []any:
		out := ""
		for _, member := range v {
			out += flat(member) + "\n"
		}
		return out
	case string:
		return v
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}

// TestMarkers sends each secret of the table to each output.
func TestMarkers(t *testing.T) {
	r := New(Options{})
	all := lines(t, "secrets.txt")
	if len(all) < 110 {
		t.Fatalf("only %d secrets", len(all))
	}
	for _, line := range all {
		text, secret := marker(t, line)
		for name, output := range outputs {
			got := output(r, text)
			if strings.Contains(got, secret) || !strings.Contains(got, Mark) {
				t.Errorf("%s: %q is left in %q", name, secret, got)
			}
		}
	}
}

// TestInnocent checks that texts without secrets stay as they are.
func TestInnocent(t *testing.T) {
	r := New(Options{})
	all := lines(t, "innocent.txt")
	if len(all) < 75 {
		t.Fatalf("only %d texts", len(all))
	}
	for _, text := range all {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		for _, name := range []string{"member of an event", "JSON in a member"} {
			if got := outputs[name](r, text); strings.Contains(got, Mark) {
				t.Errorf("%s: %q became %q", name, text, got)
			}
		}
	}
}

// FuzzKnown checks that tokens that are known by their form are removed from
// any text around them, that JSON stays valid JSON, and that redacting again
// changes nothing.
func FuzzKnown(f *testing.F) {
	var tokens []string
	for _, line := range lines(f, "secrets.txt") {
		text, secret := marker(f, line)
		for i := range tokenForms {
			if strings.HasPrefix(secret, tokenForms[i].prefix) || strings.HasPrefix(secret, "eyJ") {
				tokens = append(tokens, secret)
				break
			}
		}
		f.Add(text+"§", uint8(len(tokens)))
	}
	for _, seed := range []string{`{"a":["§",{"key":"§"}]}`, "<password>§</password", "/reset/§/§?code=§&state=", "Basic § -----BEGIN PRIVATE KEY-----", `{"code":"§","state":4111111111111111}`, "4111 1111 §"} {
		f.Add(seed, uint8(1))
	}
	r := New(Options{})
	f.Fuzz(func(t *testing.T, template string, n uint8) {
		token := tokens[int(n)%len(tokens)]
		in := strings.ReplaceAll(strings.ToValidUTF8(template, ""), "§", " "+token+" ")
		once := r.Text(in)
		if strings.Contains(once, token) {
			t.Fatalf("%q is left in %q", token, once)
		}
		if again := r.Text(once); again != once {
			t.Fatalf("%q became %q and then %q", in, once, again)
		}
		if json.Valid([]byte(in)) && !json.Valid([]byte(once)) && (strings.HasPrefix(in, "{") || strings.HasPrefix(in, "[")) {
			t.Fatalf("%q became %q", in, once)
		}
		raw := append(text.AppendQuoted([]byte(`{"body":`), in), '}')
		if out := r.Document(raw); !json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
	})
}
