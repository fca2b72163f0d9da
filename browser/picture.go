package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// A document that has just started has no picture yet, and Chromium does not wait
// for one. So the picture is requested again when the page has painted.
const (
	captureTries  = 5
	paintPatience = 500 * time.Millisecond // for a page that paints nothing, because it is hidden or a dialog is open
)

// Capture captures a picture of the page and returns the encoded image. The error
// is ErrContextDestroyed when another document replaces the present one, because
// Chromium then refuses or never answers.
func (p *Page) Capture(ctx context.Context, params page.CaptureScreenshotParams) ([]byte, error) {
	for try := 1; ; try++ {
		image, err := p.captureOnce(ctx, params)
		if !isUnpainted(err) || try == captureTries {
			return image, err
		}
		if err := p.awaitPaint(ctx); err != nil {
			return nil, err
		}
	}
}

// awaitPaint returns when the page has painted its document, or paintPatience is
// over.
func (p *Page) awaitPaint(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, paintPatience)
	defer cancel()
	world, err := p.MainFrame().World(short, WorldUtility)
	if err == nil {
		// The first callback runs before a paint, the second one after it.
		const twice = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
		_, err = world.Call(short, CallOptions{Function: twice, AwaitPromise: true})
	}
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		return nil
	}
	return err
}

func (p *Page) captureOnce(ctx context.Context, params page.CaptureScreenshotParams) ([]byte, error) {
	b := p.browser
	done, err := p.Shooting(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	replaced, commits, crashed := p.replaced, p.main.commits, p.crashed
	b.mu.Unlock()
	if crashed { // Chromium would answer only after the page is loaded again
		done(nil)
		return nil, ErrPageCrashed
	}
	raw, err := b.callUnless(ctx, p.Session(), page.CaptureScreenshot.Method, params, replaced, ErrContextDestroyed)
	done(err)
	if _, refused := errors.AsType[*cdp.Error](err); refused {
		// The renderer may report a reason that the error does not contain, such as
		// a new document.
		if e := b.followRenderer(ctx, p.Session(), replaced, ErrContextDestroyed); e != nil {
			err = e
		}
	}
	b.mu.Lock()
	switch {
	case err != nil && p.crashed:
		err = ErrPageCrashed
	case err != nil && p.main.commits != commits:
		err = ErrContextDestroyed
	}
	b.mu.Unlock()
	if err != nil {
		return nil, p.explain(err)
	}
	var res page.CaptureScreenshotResult
	if err := jsonv2.Unmarshal(raw, &res); err != nil {
		return nil, fmt.Errorf("%s: decode result: %w", page.CaptureScreenshot.Method, err)
	}
	return res.Data, nil
}

// Shooting waits for the turn to take a picture of the page; see cdp.Client.Shooting.
func (p *Page) Shooting(ctx context.Context) (done func(error), err error) {
	return p.Session().Client().Shooting(ctx, string(p.ID()))
}

// Replaced returns a channel that is closed when another document replaces the
// page's present one, or the page crashes.
func (p *Page) Replaced() <-chan struct{} {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.replaced
}

// replacedLocked wakes goroutines that work on a document that is gone.
func (p *Page) replacedLocked() {
	p.browser.signalLocked(p.replaced)
	p.replaced = make(chan struct{})
}

// Responds reports whether the page responds before ctx ends. A page that is
// running a long script or shows a dialog does not respond, and no picture can be
// taken of it.
func (p *Page) Responds(ctx context.Context) bool {
	_, err := cdp.Call(ctx, p.Session(), runtime.GetIsolateID, proto.Empty{}) // any reply will do
	return err == nil || ctx.Err() == nil                                     // an error is a response
}

// ContentSize returns the size of the whole document in CSS pixels.
func (p *Page) ContentSize(ctx context.Context) (width, height float64, err error) {
	m, err := cdp.Call(ctx, p.Session(), page.GetLayoutMetrics, proto.Empty{})
	if err != nil {
		return 0, 0, fmt.Errorf("measure page: %w", err)
	}
	return m.CSSContentSize.Width, m.CSSContentSize.Height, nil
}
