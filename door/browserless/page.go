package browserless

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"takeover/door/page"
	"takeover/invalid"
)

// PageRequest is what all calls that read one page have. Fields of Browserless that
// are not here are refused by their names.
type PageRequest struct {
	URL                 string            `json:"url,omitempty" doc:"The address to open. Either url or html is required."`
	HTML                string            `json:"html,omitempty" doc:"The page's markup, instead of an address."`
	GotoOptions         *GotoOptions      `json:"gotoOptions,omitempty" doc:"How to open the page."`
	WaitForSelector     *WaitForSelector  `json:"waitForSelector,omitempty" doc:"What to wait for after the page has been opened."`
	WaitForTimeout      float64           `json:"waitForTimeout,omitempty" doc:"Milliseconds to wait after that." min:"0" max:"60000"`
	Viewport            *Viewport         `json:"viewport,omitempty" doc:"The size of the page."`
	UserAgent           string            `json:"userAgent,omitempty" doc:"Replaces Chromium's User-Agent."`
	SetExtraHTTPHeaders map[string]string `json:"setExtraHTTPHeaders,omitempty" doc:"Headers that are added to each request, by name."`
	Cookies             json.RawMessage   `json:"cookies,omitempty" doc:"Cookies to start with, as in a sessionContext."`
	BestAttempt         bool              `json:"bestAttempt,omitempty" doc:"Goes on when waiting takes too long."`
}

// GotoOptions say how to open a page.
type GotoOptions struct {
	WaitUntil json.RawMessage `json:"waitUntil,omitempty" doc:"load, domcontentloaded, networkidle0, networkidle2, or a list of them."`
	Timeout   float64         `json:"timeout,omitempty" doc:"Milliseconds." min:"0" max:"60000" default:"30000"`
}

// WaitForSelector says what to wait for after the page has been opened.
type WaitForSelector struct {
	Selector string  `json:"selector" doc:"A selector." required:"true"`
	Visible  bool    `json:"visible,omitempty" doc:"Waits until the element is visible."`
	Hidden   bool    `json:"hidden,omitempty" doc:"Waits until no such element is visible."`
	Timeout  float64 `json:"timeout,omitempty" doc:"Milliseconds." min:"0" max:"60000" default:"30000"`
}

// Viewport is the size of the page.
type Viewport struct {
	Width             int     `json:"width" doc:"CSS pixels."`
	Height            int     `json:"height" doc:"CSS pixels."`
	DeviceScaleFactor float64 `json:"deviceScaleFactor,omitempty" doc:"Device pixels per CSS pixel."`
	IsMobile          bool    `json:"isMobile,omitempty" doc:"Emulates a phone."`
}

// ContentRequest is the body of POST /content.
type ContentRequest struct{ PageRequest }

// ScreenshotRequest is the body of POST /screenshot.
type ScreenshotRequest struct {
	PageRequest
	Selector string             `json:"selector,omitempty" doc:"The picture shows this element instead of the viewport."`
	Options  *ScreenshotOptions `json:"options,omitempty" doc:"How to take the picture."`
}

// ScreenshotOptions are those of Puppeteer that have an effect.
type ScreenshotOptions struct {
	Type     string `json:"type,omitempty" doc:"The picture's format." one:"png,jpeg,webp" default:"png"`
	Quality  int    `json:"quality,omitempty" doc:"For jpeg and webp." min:"0" max:"100"`
	FullPage bool   `json:"fullPage,omitempty" doc:"The whole page instead of what is in view."`
	Encoding string `json:"encoding,omitempty" doc:"Only binary." one:"binary"`
}

// PDFRequest is the body of POST /pdf.
type PDFRequest struct {
	PageRequest
	Options *PDFOptions `json:"options,omitempty" doc:"How to print."`
}

// stage is a word of Puppeteer for a stage of loading, and ours.
type stage struct{ given, ours string }

// stages lists the stages, the latest one last.
var stages = []stage{{"domcontentloaded", "domcontentloaded"}, {"load", "load"}, {"networkidle2", "networkidle"}, {"networkidle0", "networkidle"}}

// until returns the stage to wait for: the latest of those given.
func (g *GotoOptions) until() (string, error) {
	if g == nil || len(g.WaitUntil) == 0 {
		return "load", nil
	}
	var list []string
	if json.Unmarshal(g.WaitUntil, &list) != nil {
		var one string
		if json.Unmarshal(g.WaitUntil, &one) != nil {
			return "", invalid.Field("gotoOptions.waitUntil", "must be a text or a list of texts")
		}
		list = []string{one}
	}
	latest := -1
	for _, word := range list {
		at := slices.IndexFunc(stages, func(s stage) bool { return s.given == word })
		if at < 0 {
			return "", invalid.Field("gotoOptions.waitUntil", "must be load, domcontentloaded, networkidle0 or networkidle2")
		}
		latest = max(latest, at)
	}
	if latest < 0 {
		return "load", nil
	}
	return stages[latest].ours, nil
}

// Check checks what no tag says. It returns an *invalid.Error, or nil.
func (r *PageRequest) Check() error {
	if (r.URL == "") == (r.HTML == "") {
		return invalid.Field("url", "give either url or html")
	}
	_, err := r.GotoOptions.until()
	return err
}

// Check checks what no tag says. It returns an *invalid.Error, or nil.
func (r *PDFRequest) Check() error {
	if r.Options != nil {
		if _, err := r.Options.page(); err != nil {
			return err
		}
	}
	return r.PageRequest.Check()
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// open opens the page of a request and waits for what it names.
func (r *PageRequest) open(ctx context.Context, p page.Page) error {
	until, err := r.GotoOptions.until()
	if err != nil {
		return err
	}
	opening := p
	if r.GotoOptions != nil {
		opening.Timeout = duration(r.GotoOptions.Timeout)
	}
	if r.URL != "" {
		err = opening.Navigate(ctx, r.URL, until)
	} else {
		err = opening.SetContent(ctx, r.HTML, until)
	}
	if err != nil && (!r.BestAttempt || ctx.Err() != nil) {
		return err
	}
	if w := r.WaitForSelector; w != nil {
		state := "attached"
		switch {
		case w.Visible:
			state = "visible"
		case w.Hidden:
			state = "hidden"
		}
		waiting := p
		waiting.Timeout = duration(w.Timeout)
		if err := waiting.WaitFor(ctx, w.Selector, state); err != nil && (!r.BestAttempt || ctx.Err() != nil) {
			return err
		}
	}
	select {
	case <-time.After(duration(r.WaitForTimeout)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Answer is the body of an answer.
type Answer struct {
	Type string // media type
	Body []byte
}

// Read opens the page and returns its markup.
func (r *ContentRequest) Read(ctx context.Context, p page.Page) (*Answer, error) {
	if err := r.open(ctx, p); err != nil {
		return nil, err
	}
	markup, err := p.Content(ctx)
	return &Answer{Type: "text/html; charset=utf-8", Body: []byte(markup)}, err
}

// Read opens the page and takes a picture.
func (r *ScreenshotRequest) Read(ctx context.Context, p page.Page) (*Answer, error) {
	if err := r.open(ctx, p); err != nil {
		return nil, err
	}
	o := page.ScreenshotOptions{Target: r.Selector, Format: "png"}
	if given := r.Options; given != nil {
		o.FullPage, o.Quality = given.FullPage, given.Quality
		if given.Type != "" {
			o.Format = given.Type
		}
	}
	image, err := p.Screenshot(ctx, o)
	return &Answer{Type: "image/" + o.Format, Body: image}, err
}

// Read opens the page and prints it.
func (r *PDFRequest) Read(ctx context.Context, p page.Page) (*Answer, error) {
	if err := r.open(ctx, p); err != nil {
		return nil, err
	}
	var o page.PDFOptions
	if r.Options != nil {
		var err error
		if o, err = r.Options.page(); err != nil {
			return nil, err
		}
	}
	document, err := p.PDF(ctx, o)
	return &Answer{Type: "application/pdf", Body: document}, err
}
