package cdp_test

import (
	"testing"

	"takeover/browser/browsertest"
)

func TestPage(t *testing.T) {
	p := browsertest.Page(t)
	p.HTML("<title>x</title><p>hello")
	var title string
	p.Eval("document.title", &title)
	if title != "x" {
		t.Fatal(title)
	}
	p.Open("data:text/html,hi")
}
