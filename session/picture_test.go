package session

import (
	"bytes"
	"errors"
	"image/jpeg"
	"strings"
	"sync"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/cdp"
)

// TestPicturesOfPagesThatGo takes pictures while a page switches between two
// sites, which Chromium renders in two processes. A picture that never comes is
// an error after screenshotTimeout.
func TestPicturesOfPagesThatGo(t *testing.T) {
	base := site(t)
	s := borrow(t, base+"/one")
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	urls := []string{base + "/one", strings.Replace(base, "127.0.0.1", "localhost", 1) + "/two"}
	for i := range 24 {
		ctx := browsertest.Context(t, "pictures")
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := p.MainFrame().Navigate(ctx, urls[i%2], browser.NavigateOptions{}); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			if _, err := s.takeThumbnail(ctx); err != nil {
				t.Error(err)
			}
			if _, _, err := s.Screenshot(ctx, "png", false); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		m, err := cdp.Call(ctx, p.Session(), page.GetLayoutMetrics, proto.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		if v := m.CSSLayoutViewport; v.ClientWidth != 1280 || v.ClientHeight != 720 {
			t.Fatalf("the page is left %d by %d", v.ClientWidth, v.ClientHeight)
		}
	}
}

// TestPicturesOfPagesThatClose closes a page while its picture is taken.
func TestPicturesOfPagesThatClose(t *testing.T) {
	s := borrow(t, site(t))
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	ctx := browsertest.Context(t, "pictures")
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.openTab(ctx, eng); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.screenshot(ctx, p, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng}); !errors.Is(err, ErrNotReady) {
		t.Error(err)
	}
}

// TestThumbnailLeavesThePageAsItIs checks that a thumbnail never changes the
// page's size, not even for a moment.
func TestThumbnailLeavesThePageAsItIs(t *testing.T) {
	s := borrow(t, site(t)+"/one")
	p, err := s.activePage()
	if err != nil {
		t.Fatal(err)
	}
	ctx := browsertest.Context(t, "thumbnail")
	evaluate := func(expression string) int {
		var out struct {
			Result struct {
				Value int `json:"value"`
			} `json:"result"`
		}
		params := map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}
		if err := p.Session().Call(ctx, "Runtime.evaluate", params, &out); err != nil {
			t.Fatal(err)
		}
		return out.Result.Value
	}
	evaluate(`sizes = new Set(); (function look() { sizes.add(innerWidth); requestAnimationFrame(look) })(); addEventListener('resize', () => sizes.add(innerWidth)); 0`)
	picture, err := s.takeThumbnail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	size, err := jpeg.DecodeConfig(bytes.NewReader(picture))
	if err != nil || size.Width != thumbnailWidth || size.Height != thumbnailWidth*720/1280 {
		t.Errorf("thumbnail of %d by %d pixels, %v", size.Width, size.Height, err)
	}
	if n := evaluate(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(sizes.size))))`); n != 1 {
		t.Errorf("the page had %d sizes", n)
	}
}
