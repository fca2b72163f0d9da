package browser_test

import (
	"sync"
	"testing"

	protopage "github.com/chromedp/cdproto/page"

	"takeover/browser"
)

// TestPicturesAtOnce lets one client take plain pictures of a page, and another one enlarged
// ones. The page must keep its size, or presses would miss what is under them.
func TestPicturesAtOnce(t *testing.T) {
	s := newSite(t, map[string]string{"/a": `<title>A</title><script>
		addEventListener('resize', () => { document.title += ', ' + innerWidth + 'x' + innerHeight })</script>`})
	p := newPage(t, attach(t))
	size := browser.Size{Width: 800, Height: 600}
	must(t, p.SetViewport(wait(t, "viewport"), browser.Viewport{Width: size.Width, Height: size.Height, DeviceScaleFactor: 1}))
	open(t, p.MainFrame(), s.URL+"/a")
	q := attachTo2(t, nil, p)
	ctx := wait(t, "pictures")
	enlarged := &protopage.Viewport{Width: float64(size.Width), Height: float64(size.Height), Scale: 2}
	var both sync.WaitGroup
	for page, clip := range map[*browser.Page]*protopage.Viewport{p: nil, q: enlarged} {
		both.Go(func() {
			for range 10 {
				if _, err := page.Capture(ctx, protopage.CaptureScreenshotParams{Clip: clip}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	if title := evalMain[string](t, p.MainFrame(), "document.title"); title != "A" {
		t.Errorf("the page got other sizes: %s", title)
	}
}
