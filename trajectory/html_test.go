package trajectory

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"takeover/redact"
)

// TestWriteHTML writes a bundle as a page, whose texts come from pages and programs.
func TestWriteHTML(t *testing.T) {
	l := Open(filepath.Join(t.TempDir(), "trajectories"), KeepOptions{})
	b := begin(t, l, Options{})
	b.AddCall(Event{Kind: ToolCallStart, Actor: "script", Tool: "click", Args: map[string]string{"selector": `<img src=x onerror="alert(1)">`}, State: &State{URL: "https://example.com/?a=<b>"}}, []byte("a PNG"))
	failed, took := false, 12.4
	b.Add(Event{Kind: ToolCallEnd, Actor: "script", Tool: "click", OK: &failed, DurationMS: &took, Result: "</article><script>alert(2)</script>"})
	b.Add(Event{Kind: TakeoverStart, Args: "please"})
	end(t, b)
	a, err := l.Archive(b.ID(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var out bytes.Buffer
	if err := a.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{"<h1>" + b.ID() + "</h1>", "click begins", `<h2 class="wrong">click ended`, "12 ms", "Asked for a person", "data:image/png;base64,YSBQTkc=", "&lt;img src=x onerror", "</body></html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "<img src=x") || strings.Count(page, "<article") != 3 {
		t.Errorf("the page is not escaped:\n%s", page)
	}

	r := redact.New(redact.Options{})
	leaky := begin(t, l, Options{Redactor: r})
	leaky.Add(Event{Kind: Hint, Args: secret}) // before anybody knows that it is one
	r.AddSecret(secret)
	end(t, leaky)
	if _, err := l.Archive(leaky.ID(), true); !errors.As(err, new(*LeakError)) {
		t.Errorf("a bundle with a secret: %v", err)
	}
}
