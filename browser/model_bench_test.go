package browser_test

import (
	"context"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/cdp"
)

// BenchmarkCall compares a call in a world with the bare command.
func BenchmarkCall(b *testing.B) {
	f := newPage(b, attach(b)).MainFrame()
	w, err := f.World(wait(b, "world"), browser.WorldMain)
	must(b, err)
	const function = "() => 1"
	b.Run("world", func(b *testing.B) {
		for b.Loop() {
			_, err := w.Call(b.Context(), browser.CallOptions{Function: function, ByValue: true})
			must(b, err)
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			_, err := cdp.Call(b.Context(), w.Session(), runtime.CallFunctionOn, runtime.CallFunctionOnParams{
				FunctionDeclaration: function, ReturnByValue: new(true), ExecutionContextID: w.ContextID(),
			})
			must(b, err)
		}
	})
}

// BenchmarkNavigate compares a navigation to load with Page.navigate and the load
// event in a client that does nothing else.
func BenchmarkNavigate(b *testing.B) {
	s := newSite(b, map[string]string{"/a": "<title>A</title><p>text</p>"})
	b.Run("model", func(b *testing.B) {
		f := newPage(b, attach(b)).MainFrame()
		for b.Loop() {
			_, err := f.Navigate(b.Context(), s.URL+"/a", browser.NavigateOptions{})
			must(b, err)
		}
	})
	b.Run("bare", func(b *testing.B) {
		p := browsertest.Page(b)
		for b.Loop() {
			p.Open(s.URL + "/a")
		}
	})
}

// BenchmarkNewPage compares opening a page that is set up with opening a bare
// one.
func BenchmarkNewPage(b *testing.B) {
	m := attach(b)
	c, err := m.NewContext(b.Context(), browser.ContextOptions{Viewport: &browser.Viewport{Width: 800, Height: 600}})
	must(b, err)
	b.Cleanup(func() { must(b, c.Close(context.Background())) })
	b.Run("model", func(b *testing.B) {
		for b.Loop() {
			p, err := c.NewPage(b.Context())
			must(b, err)
			must(b, p.Close(b.Context()))
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			p := browsertest.Page(b)
			_, err := cdp.Call(b.Context(), p.Session, page.Close, proto.Empty{})
			must(b, err)
		}
	})
}
