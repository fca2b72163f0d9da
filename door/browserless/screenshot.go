package browserless

import (
	"context"
	"encoding/base64"

	"takeover/door/page"
	"takeover/invalid"
)

// ScreenshotRequest is the body of POST /screenshot.
type ScreenshotRequest struct {
	PageRequest
	Selector string             `json:"selector,omitempty" doc:"The picture shows this element instead of the viewport."`
	Options  *ScreenshotOptions `json:"options,omitempty" doc:"How to take the picture."`
}

// ScreenshotOptions are those of Puppeteer that have an effect.
type ScreenshotOptions struct {
	Type                  string `json:"type,omitempty" doc:"The picture's format." one:"png,jpeg,webp" default:"png"`
	Quality               int    `json:"quality,omitempty" doc:"For jpeg and webp." min:"0" max:"100"`
	FullPage              bool   `json:"fullPage,omitempty" doc:"The whole page instead of what is in view."`
	Clip                  *Clip  `json:"clip,omitempty" doc:"The part of the page to show."`
	CaptureBeyondViewport *bool  `json:"captureBeyondViewport,omitempty" doc:"Whether the clip counts from the page's corner and may lie out of view. If false, it counts from the corner of what is in view." default:"true"`
	OmitBackground        bool   `json:"omitBackground,omitempty" doc:"Leaves out the white background of a page that has none. Not for jpeg."`
	Encoding              string `json:"encoding,omitempty" doc:"With base64, the answer is text." one:"binary,base64" default:"binary"`
}

// Clip is a part of a page.
type Clip struct {
	X      float64 `json:"x" doc:"CSS pixels from the left."`
	Y      float64 `json:"y" doc:"CSS pixels from the top."`
	Width  float64 `json:"width" doc:"CSS pixels." required:"true"`
	Height float64 `json:"height" doc:"CSS pixels." required:"true"`
}

// maxClip bounds the sides of a clip and its distance from the page's corner, in CSS
// pixels.
const maxClip = 16384

// Check checks what no tag says. It returns an *invalid.Error, or nil.
func (r *ScreenshotRequest) Check() error {
	if err := r.PageRequest.Check(); err != nil {
		return err
	}
	o := r.Options
	if o == nil {
		return nil
	}
	if o.OmitBackground && o.Type == "jpeg" {
		return invalid.Field("options.omitBackground", "pictures of type jpeg have a background")
	}
	if o.FullPage && o.CaptureBeyondViewport != nil && !*o.CaptureBeyondViewport {
		return invalid.Field("options.captureBeyondViewport", "must be true with fullPage")
	}
	if o.Clip == nil {
		return nil
	}
	if o.FullPage || r.Selector != "" {
		return invalid.Field("options.clip", "goes neither with fullPage nor with selector")
	}
	return o.Clip.check()
}

func (c *Clip) check() error {
	for _, f := range []struct {
		name  string
		value float64
		least string
		ok    bool
	}{
		{"x", c.X, "from 0", c.X >= 0}, {"y", c.Y, "from 0", c.Y >= 0},
		{"width", c.Width, "above 0 and", c.Width > 0}, {"height", c.Height, "above 0 and", c.Height > 0},
	} {
		if !f.ok || f.value > maxClip {
			return invalid.Field("options.clip."+f.name, "must be %s up to %d", f.least, maxClip)
		}
	}
	return nil
}

// Read opens the page and takes a picture.
func (r *ScreenshotRequest) Read(ctx context.Context, p page.Page) (*Answer, error) {
	given := r.Options
	if given == nil {
		given = &ScreenshotOptions{}
	}
	o := page.ScreenshotOptions{Target: r.Selector, Format: "png", FullPage: given.FullPage, Quality: given.Quality, OmitBackground: given.OmitBackground}
	if given.Type != "" {
		o.Format = given.Type
	}
	if c := given.Clip; c != nil {
		o.Clip = &page.Clip{X: c.X, Y: c.Y, Width: c.Width, Height: c.Height, InDocument: given.CaptureBeyondViewport == nil || *given.CaptureBeyondViewport}
	}
	return r.read(ctx, p, func() (*Answer, error) {
		image, err := p.Screenshot(ctx, o)
		if given.Encoding == "base64" {
			return &Answer{Type: "text/plain; charset=utf-8", Body: []byte(base64.StdEncoding.EncodeToString(image))}, err
		}
		return &Answer{Type: "image/" + o.Format, Body: image}, err
	})
}
