package browser_test

import (
	"testing"

	"takeover/browser"
)

func TestOrigin(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/a?b#c": "https://example.com", "http://127.0.0.1:8080": "http://127.0.0.1:8080", "https://example.com?q=a@b": "https://example.com",
		"https://ada:secret@example.com/a": "https://example.com", "about:blank": "", "data:text/html,x": "", "file:///etc": "",
	} {
		if got := browser.Origin(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
