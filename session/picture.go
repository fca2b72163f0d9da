package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"sync"
	"time"

	"github.com/chromedp/cdproto/page"
	"golang.org/x/image/draw"

	"takeover/browser"
	"takeover/invalid"
	"takeover/picture"
	"takeover/screencast"
)

const (
	screenshotTimeout = 20 * time.Second
	screenshotTries   = 5               // when a page changes from one document to another
	thumbnailEvery    = 5 * time.Second // minimum time between two thumbnails
	thumbnailWidth    = 480             // pixels
	thumbnailQuality  = 75              // quality of the JPEG
	maxScreenshotSide = 16_384          // pixels; Chromium's own limit for a texture
)

// screenshotFormats are the formats that Chromium encodes, and their media types.
var screenshotFormats = map[string]string{"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}

// Screenshot takes a picture of the active page as png (default), jpeg or webp.
// It shows the visible part, or the whole page. Screenshot returns the image and
// its media type.
func (s *Session) Screenshot(ctx context.Context, format string, fullPage bool) ([]byte, string, error) {
	if format == "" {
		format = "png"
	}
	mime := screenshotFormats[format]
	if mime == "" {
		return nil, "", invalid.Field("format", "must be png, jpeg or webp")
	}
	p, err := s.activePage()
	if err != nil {
		return nil, "", err
	}
	if p.Crashed() { // a crashed page can be neither measured nor captured
		return nil, "", ErrTabCrashed
	}
	ctx, cancel := context.WithTimeout(ctx, screenshotTimeout)
	defer cancel()
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormat(format)}
	if fullPage {
		width, height, err := p.ContentSize(ctx)
		if err != nil {
			return nil, "", err
		}
		params.CaptureBeyondViewport = new(true)
		params.Clip = &page.Viewport{
			Width: min(width, maxScreenshotSide), Height: min(height, maxScreenshotSide), Scale: 1,
		}
	}
	image, err := s.screenshot(ctx, p, params)
	return image, mime, err
}

// stills are pictures of a session.
type stills struct {
	thumb thumbnail
	last  keptPicture // of its page, at its end
	shy   shy         // whether its film strip must leave the page out
}

// thumbnail is the last small picture of a session.
type thumbnail struct {
	mu    sync.Mutex // held while a picture is taken, so that all callers share one
	image []byte
	at    time.Time
}

// Thumbnail returns a small JPEG of the active page, at most 5 s old. If no
// picture can be taken now, it returns the last one.
func (s *Session) Thumbnail(ctx context.Context) ([]byte, string, error) {
	s.stills.thumb.mu.Lock()
	defer s.stills.thumb.mu.Unlock()
	if time.Since(s.stills.thumb.at) < thumbnailEvery && s.stills.thumb.image != nil {
		return s.stills.thumb.image, "image/jpeg", nil
	}
	image, err := s.takeThumbnail(ctx)
	if err != nil {
		if s.stills.thumb.image != nil {
			return s.stills.thumb.image, "image/jpeg", nil
		}
		return nil, "", err
	}
	s.stills.thumb.image, s.stills.thumb.at = image, time.Now()
	return image, "image/jpeg", nil
}

// takeThumbnail scales the picture down in the server, because Chromium would
// change the page's size for a moment, which all viewers would see.
func (s *Session) takeThumbnail(ctx context.Context) ([]byte, error) {
	if s.Hibernates() { // a list that shows it is no use
		return nil, ErrNotReady
	}
	p, err := s.activePage()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, screenshotTimeout)
	defer cancel()
	whole, err := s.screenshot(ctx, p, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(screencast.StillQuality)), OptimizeForSpeed: new(true),
	})
	if err != nil {
		return nil, err
	}
	return shrink(whole, thumbnailWidth, 0)
}

// shrink returns a JPEG with at most the given width and, if it is not 0, at most the given
// area, in pixels.
func shrink(data []byte, width, area int) ([]byte, error) {
	whole, err := picture.Decode(data)
	if err != nil {
		return nil, err
	}
	from := whole.Bounds()
	if area > 0 && from.Dy() > 0 {
		width = min(width, int(math.Sqrt(float64(area)*float64(from.Dx())/float64(from.Dy()))))
	}
	if from.Dx() <= width {
		return data, nil
	}
	small := image.NewRGBA(image.Rect(0, 0, width, max(1, from.Dy()*width/from.Dx())))
	draw.ApproxBiLinear.Scale(small, small.Bounds(), whole, from, draw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("write picture: %w", err)
	}
	return out.Bytes(), nil
}

// capturePicture takes a picture, and tries again if another document replaces
// the one in the page.
func capturePicture(ctx context.Context, p *browser.Page, params page.CaptureScreenshotParams) ([]byte, error) {
	for try := 1; ; try++ {
		image, err := p.Capture(ctx, params)
		if err == nil {
			return image, nil
		}
		if errors.Is(err, browser.ErrPageCrashed) {
			return nil, ErrTabCrashed
		}
		if !errors.Is(err, browser.ErrContextDestroyed) || try == screenshotTries {
			return nil, fmt.Errorf("take picture: %w", err)
		}
	}
}

// screenshot takes a picture that is kept or sent outside the live view. The
// error is ErrSecret while a person types a secret.
func (s *Session) screenshot(ctx context.Context, p *browser.Page, params page.CaptureScreenshotParams) ([]byte, error) {
	if s.veiled(p) {
		return nil, ErrSecret
	}
	image, err := capturePicture(ctx, p, params)
	switch {
	case errors.Is(err, browser.ErrPageClosed): // another page takes its place, or the session ends
		if _, err := s.ready(); err != nil {
			return nil, err
		}
		return nil, ErrNotReady
	case err == nil && s.veiled(p): // a person started to type a secret meanwhile
		return nil, ErrSecret
	}
	return image, err
}

// pageShown returns the page that viewers see, or nil.
func (s *Session) pageShown() *browser.Page {
	if f := s.shown(); f != nil {
		return f.page
	}
	return nil
}

// activePage returns the page that viewers see, or an error.
func (s *Session) activePage() (*browser.Page, error) {
	if _, err := s.ready(); err != nil {
		return nil, err
	}
	f := s.shown()
	if f == nil {
		return nil, ErrNotReady
	}
	return f.page, nil
}
