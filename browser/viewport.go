package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// Viewport is the size of a page in CSS pixels. A zero width means the size of
// the window.
type Viewport struct {
	Width, Height     int
	Screen            Size    // size of the screen that the page sees; default: the viewport's size
	DeviceScaleFactor float64 // default 1
	IsMobile          bool    // meta viewport tag, overlay scrollbars
	HasTouch          bool
}

// Sized returns the viewport with another size, which is also the screen's.
func (v Viewport) Sized(size Size) Viewport {
	v.Width, v.Height, v.Screen = size.Width, size.Height, Size{}
	return v
}

// Size is a size in CSS pixels.
type Size struct{ Width, Height int }

// Viewport returns the viewport that was set, or the zero value.
func (p *Page) Viewport() Viewport {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.viewport
}

// resizeTimeout bounds how long SetViewport waits until the document has the new size.
const resizeTimeout = time.Second

// SetViewport changes the page's size. It returns when the document has a size that was
// given, or after resizeTimeout: a page that does not answer may get it later.
func (p *Page) SetViewport(ctx context.Context, v Viewport) error {
	s := p.Session()
	err := s.Send(emulation.SetTouchEmulationEnabled.Method, v.touch())
	if err == nil {
		method, params := emulation.SetDeviceMetricsOverride.Method, any(v.metrics(p.browser.options.Density))
		if v.Width == 0 {
			method, params = emulation.ClearDeviceMetricsOverride.Method, proto.Empty{}
		}
		_, err = p.browser.call(ctx, s, method, params)
	}
	if err != nil {
		return fmt.Errorf("set viewport: %w", p.explain(err))
	}
	err = p.browser.Do(ctx, func() {
		p.browser.turn(func() {
			p.viewport = v
			p.tellLocked(PageChanged{Page: p})
		})
	})
	if err == nil {
		p.awaitSize(ctx, v)
	}
	return err
}

// Resize changes the size of the context's pages, and of those that open later. It
// ignores pages that end meanwhile.
func (c *Context) Resize(ctx context.Context, size Size) error {
	b := c.browser
	b.mu.Lock()
	var usual Viewport
	if c.options.Viewport != nil {
		usual = *c.options.Viewport
	}
	c.options.Viewport = new(usual.Sized(size))
	b.mu.Unlock()
	var all sync.WaitGroup
	pages := c.Pages()
	errs := make([]error, len(pages))
	for i, p := range pages {
		all.Go(func() {
			if err := p.SetViewport(ctx, p.Viewport().Sized(size)); err != nil && !errors.Is(err, cdp.ErrDetached) && !errors.Is(err, ErrPageCrashed) && !errors.Is(err, ErrPageClosed) {
				errs[i] = err
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// awaitSize waits until the page's document knows its size: Chromium answers before it
// has told the page's process. What a viewport meta tag makes of a size only the page
// knows, so a mobile one is not waited for.
func (p *Page) awaitSize(ctx context.Context, v Viewport) {
	w := p.MainFrame().CurrentWorld(WorldUtility)
	if w == nil || v.Width == 0 || v.IsMobile {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, resizeTimeout)
	defer cancel()
	_, _ = w.Call(ctx, CallOptions{ // a document that is gone has no size
		// No event tells it in a page that is not drawn.
		Function: `(width, height, patience) => new Promise(done => {
			const end = performance.now() + patience
			const look = () => (innerWidth === width && innerHeight === height) || performance.now() > end ? done() : setTimeout(look, 10)
			look()
		})`,
		Args: []*runtime.CallArgument{
			{Value: fmt.Append(nil, v.Width)}, {Value: fmt.Append(nil, v.Height)}, {Value: fmt.Append(nil, resizeTimeout.Milliseconds())},
		},
		AwaitPromise: true,
	})
}

// deviceMetrics are the parameters of Emulation.setDeviceMetricsOverride.
// cdproto's type would omit an angle of 0.
type deviceMetrics struct {
	Width             int               `json:"width"`
	Height            int               `json:"height"`
	ScreenWidth       int               `json:"screenWidth"`
	ScreenHeight      int               `json:"screenHeight"`
	DeviceScaleFactor float64           `json:"deviceScaleFactor"` // 0 means the window's
	Mobile            bool              `json:"mobile"`
	Orientation       screenOrientation `json:"screenOrientation"`
}

type screenOrientation struct {
	Type  string `json:"type"`
	Angle int    `json:"angle"`
}

// metrics returns the parameters for a window with the given number of device
// pixels per CSS pixel. A screencast does not show an emulated density, so a page
// whose density equals the window's keeps the window's.
func (v Viewport) metrics(density float64) deviceMetrics {
	screen := v.Screen
	if screen == (Size{}) {
		screen = Size{v.Width, v.Height}
	}
	m := deviceMetrics{
		Width: v.Width, Height: v.Height, ScreenWidth: screen.Width, ScreenHeight: screen.Height,
		DeviceScaleFactor: cmp.Or(v.DeviceScaleFactor, 1), Mobile: v.IsMobile,
		Orientation: screenOrientation{Type: "landscapePrimary"},
	}
	if m.DeviceScaleFactor == density {
		m.DeviceScaleFactor = 0
	}
	switch {
	case v.IsMobile && screen.Width > screen.Height:
		m.Orientation.Angle = 90
	case v.IsMobile:
		m.Orientation.Type = "portraitPrimary"
	}
	return m
}

func (v Viewport) touch() emulation.SetTouchEmulationEnabledParams {
	return emulation.SetTouchEmulationEnabledParams{Enabled: v.HasTouch}
}
