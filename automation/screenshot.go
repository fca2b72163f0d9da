package automation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"takeover/browser"
)

// screenshotTargetOperations are this file's operations on targets.
var screenshotTargetOperations = table{
	"screenshot": op(true, opElementScreenshot), // may scroll the page
}

// screenshotOperations are the operations of this file.
var screenshotOperations = table{
	// {page,type,quality,fullPage,clip,omitBackground,scale,caret,animations,style,mask:[targets],maskColor,timeout}
	// → {data}. The clip counts in the viewport or, with clipInDocument, in the document. A screenshot that changes more than the caret waits for control.
	"page.screenshot": op(false, opPageScreenshot),
}

// shotParams are the options of all screenshots.
type shotParams struct {
	Type           string `json:"type"` // png, jpeg or webp; default png
	Quality        *int64 `json:"quality"`
	FullPage       bool   `json:"fullPage"`
	Clip           *Rect  `json:"clip"`
	OmitBackground bool   `json:"omitBackground"`
	Scale          string `json:"scale"`      // css or device; default device
	Caret          string `json:"caret"`      // hide or initial; default hide
	Animations     string `json:"animations"` // disabled or allow; default allow
	Style          string `json:"style"`      // a stylesheet that applies while the picture is taken

	Mask      []target `json:"mask"`      // elements to cover
	MaskColor string   `json:"maskColor"` // CSS; default #FF00FF
}

type pageShot struct {
	Page    string  `json:"page"`
	Timeout float64 `json:"timeout"`
	shotParams
	ClipInDocument bool `json:"clipInDocument"`
}

type elementShot struct {
	target
	shotParams
}

// shotTries is how often a picture is attempted while the page is changing from
// one document to another.
const shotTries = 10

// maxShotPixels bounds the width and the height of a clip, in CSS pixels. It is
// the side of the largest texture that Chromium renders.
const maxShotPixels = 16384

func (o *shotParams) check() error {
	switch o.Type {
	case "":
		o.Type = "png"
	case "png", "jpeg", "webp":
	default:
		return errorf("type: expected one of (png|jpeg|webp)")
	}
	if o.Quality != nil && o.Type == "png" {
		return errorf("options.quality is unsupported for the png screenshots")
	}
	if o.Quality != nil && (*o.Quality < 0 || *o.Quality > 100) {
		return errorf("Expected options.quality to be between 0 and 100 (inclusive), got %d", *o.Quality)
	}
	if o.Clip != nil && o.Clip.Width <= 0 {
		return errorf("Expected options.clip.width to be greater than 0.")
	}
	if o.Clip != nil && o.Clip.Height <= 0 {
		return errorf("Expected options.clip.height to be greater than 0.")
	}
	if o.Clip != nil && o.FullPage {
		return errorf("options.clip and options.fullPage are exclusive")
	}
	return nil
}

// disturbs reports whether taking a picture changes more than the caret for
// somebody who uses the page at that time.
func (o *shotParams) disturbs() bool {
	return o.FullPage || o.OmitBackground || o.Style != "" || o.Animations == "disabled" || len(o.Mask) > 0
}

// metrics are the sizes of a page in CSS pixels.
type metrics struct {
	Width, Height         float64 // of the viewport
	FullWidth, FullHeight float64 // of the whole document
	ScrollX, ScrollY      float64
	Ratio                 float64 // device pixels per CSS pixel
	Inner                 bool    // the focus is inside a frame
}

func opPageScreenshot(ctx context.Context, c *Client, o *pageShot) (any, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	pg, err := c.page(o.Page)
	if err != nil {
		return nil, err
	}
	switch {
	case o.disturbs() || o.ClipInDocument:
		if err := c.awaitControl(ctx); err != nil {
			return nil, err
		}
	case !c.mayWrite(ctx):
		o.Caret = "initial" // a person may be typing
	}
	if err := c.options.Veil(ctx, pg); err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, o.Timeout, true)
	defer cancel()
	p.log = append(p.log, "taking page screenshot", "waiting for fonts to load...", "fonts loaded")
	return p.picture(func() (any, error) {
		return c.shoot(p, pg, &o.shotParams, func(m metrics) (*Rect, error) {
			switch {
			case o.FullPage:
				return &Rect{Width: m.FullWidth, Height: m.FullHeight}, nil
			case o.Clip != nil && o.ClipInDocument:
				clip, err := within(*o.Clip, m.FullWidth, m.FullHeight)
				return &clip, err
			case o.Clip != nil:
				clip, err := within(*o.Clip, m.Width, m.Height)
				return &Rect{clip.X + m.ScrollX, clip.Y + m.ScrollY, clip.Width, clip.Height}, err
			}
			return nil, nil
		})
	})
}

// picture takes a picture, and tries again if the document was replaced
// meanwhile.
func (p *progress) picture(take func() (any, error)) (any, error) {
	for try := 1; ; try++ {
		picture, err := take()
		switch {
		case err == nil:
			return picture, nil
		case !replaced(err) || try == shotTries || p.Err() != nil:
			return nil, p.fail(err)
		}
	}
}

// replaced reports whether an error means only that the document was replaced.
func replaced(err error) bool {
	return errors.Is(err, browser.ErrContextDestroyed) && !errors.Is(err, browser.ErrPageClosed) && !errors.Is(err, browser.ErrPageCrashed) && !errors.Is(err, browser.ErrFrameDetached)
}

func opElementScreenshot(ctx context.Context, c *Client, o *elementShot) (any, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, _, err := c.start(&o.target)
	if err != nil {
		return nil, err
	}
	if err := c.options.Veil(ctx, f.Page()); err != nil {
		return nil, err
	}
	p, cancel := c.begin(ctx, o.Timeout, true)
	defer cancel()
	return p.picture(func() (any, error) {
		box, err := c.box(p, &o.target, "screenshotRect", callParams{})
		if err == nil && (box == nil || box.Width == 0 || box.Height == 0) {
			err = errorf("Node is either not visible or has 0 width or height.")
		}
		if err != nil {
			return nil, err
		}
		return c.shoot(p, f.Page(), &o.shotParams, func(m metrics) (*Rect, error) {
			x, y := math.Floor(box.X+m.ScrollX+0.001), math.Floor(box.Y+m.ScrollY+0.001)
			right, bottom := math.Ceil(box.X+m.ScrollX+box.Width-0.001), math.Ceil(box.Y+m.ScrollY+box.Height-0.001)
			return &Rect{x, y, right - x, bottom - y}, nil
		})
	})
}

// within limits a clip to the viewport.
func within(clip Rect, width, height float64) (Rect, error) {
	x, y := min(max(clip.X, 0), width), min(max(clip.Y, 0), height)
	right, bottom := min(max(clip.X+clip.Width, 0), width), min(max(clip.Y+clip.Height, 0), height)
	if right <= x || bottom <= y {
		return Rect{}, errorf("Clipped area is either empty or outside the resulting image")
	}
	return Rect{x, y, right - x, bottom - y}, nil
}

// shoot takes a picture of the clip, in the document's coordinates, or of the
// viewport if there is no clip.
func (c *Client) shoot(p *progress, pg *browser.Page, o *shotParams, clip func(metrics) (*Rect, error)) (picture any, err error) {
	prepared := &preparation{client: c}
	defer func() {
		if gone := prepared.undo(p); err == nil && replaced(gone) {
			picture, err = nil, gone // the picture may show another document, which was not prepared
		}
	}()
	m, err := prepared.page(p, pg, o)
	if err != nil {
		return nil, err
	}
	area, err := clip(m)
	if err != nil {
		return nil, err
	}
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormat(o.Type), Quality: o.Quality}
	if o.Type == "jpeg" && o.Quality == nil {
		params.Quality = new(int64(80)) // Playwright's default
	}
	scale := 1.0
	if o.Scale == "css" && m.Ratio > 0 {
		scale = 1 / m.Ratio
	}
	if area != nil || scale != 1 {
		if area == nil {
			area = &Rect{m.ScrollX, m.ScrollY, m.Width, m.Height}
		}
		params.Clip = &page.Viewport{X: area.X, Y: area.Y, Width: min(area.Width, maxShotPixels), Height: min(area.Height, maxShotPixels), Scale: scale}
		params.CaptureBeyondViewport = new(area.X < m.ScrollX || area.Y < m.ScrollY || area.X+area.Width > m.ScrollX+m.Width || area.Y+area.Height > m.ScrollY+m.Height)
	}
	if o.OmitBackground {
		if err := background(p, pg, json.RawMessage(`{"color":{"r":0,"g":0,"b":0,"a":0}}`)); err != nil {
			return nil, err
		}
		defer func() {
			_ = pg.Session().Send(emulation.SetDefaultBackgroundColorOverride.Method, json.RawMessage(`{}`))
		}() // fails only if the page is gone
	}
	for {
		image, err := pg.Capture(p, params)
		if err != nil {
			return nil, err
		}
		if c.options.Veil(ended, pg) == nil {
			return map[string][]byte{"data": image}, nil // base64
		}
		// The picture may show something secret: take another one, later.
		if err := c.options.Veil(p.parent, pg); err != nil {
			return nil, err
		}
	}
}

// preparation holds the changes that were made to a page's documents for a
// picture.
type preparation struct {
	client *Client
	layers []*layer
}

// page prepares a page and its frames, and returns the page's sizes.
func (q *preparation) page(p *progress, pg *browser.Page, o *shotParams) (m metrics, err error) {
	options := map[string]any{"caret": o.Caret != "initial", "animations": o.Animations == "disabled", "style": o.Style}
	pl, err := q.client.placeIn(p, pg.MainFrame(), browser.WorldUtility)
	if err != nil {
		return m, err
	}
	q.layers = append(q.layers, pl.layer)
	if err := pl.layer.call(p, "beginScreenshot", &m, options, o.FullPage); err != nil {
		return m, err
	}
	if m.Inner || o.Style != "" || o.Animations == "disabled" {
		for _, f := range pg.Frames()[1:] {
			inner, err := q.client.placeIn(p, f, browser.WorldUtility)
			if err != nil {
				continue // the frame is gone, or shows nothing
			}
			q.layers = append(q.layers, inner.layer)
			_ = inner.layer.call(p, "beginScreenshot", nil, options, false) // as above
		}
	}
	for i := range o.Mask {
		if err := q.mask(p, &o.Mask[i], cmp.Or(o.MaskColor, "#FF00FF")); err != nil {
			return m, err
		}
	}
	return m, nil
}

// mask covers the elements of a target with a colour.
func (q *preparation) mask(p *progress, t *target, color string) error {
	pl, err := q.client.resolve(p, t, browser.WorldUtility)
	if err != nil || pl == nil { // pl is nil if a frame that leads to the element does not exist
		return err
	}
	q.layers = append(q.layers, pl.layer)
	return pl.layer.call(p, "maskForScreenshot", nil, pl.search, color, pl.scope)
}

// undo reverts the changes. It returns the error of the page's main document.
// Documents that are gone need nothing.
func (q *preparation) undo(p *progress) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p), closeTimeout)
	defer cancel()
	for i, l := range q.layers {
		if e := l.call(ctx, "endScreenshot", nil); i == 0 {
			err = e
		}
	}
	return err
}

// background overrides the colour behind the page. It does not use cdproto's
// parameters, because these omit an alpha of 0, and Chromium then assumes 1.
func background(ctx context.Context, pg *browser.Page, params json.RawMessage) error {
	return pg.Session().Call(ctx, emulation.SetDefaultBackgroundColorOverride.Method, params, nil)
}
