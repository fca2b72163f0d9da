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
	URL                  string            `json:"url,omitempty" doc:"The address to open. Either url or html is required."`
	HTML                 string            `json:"html,omitempty" doc:"The page's markup, instead of an address."`
	GotoOptions          *GotoOptions      `json:"gotoOptions,omitempty" doc:"How to open the page."`
	AddStyleTag          []StyleTag        `json:"addStyleTag,omitempty" doc:"Style sheets that are added to the opened page, in order. At most 50."`
	AddScriptTag         []ScriptTag       `json:"addScriptTag,omitempty" doc:"Scripts that are added after that, in order. At most 50."`
	WaitForTimeout       float64           `json:"waitForTimeout,omitempty" doc:"Milliseconds to wait after that." min:"0" max:"60000"`
	WaitForFunction      *WaitForFunction  `json:"waitForFunction,omitempty" doc:"A function to wait for after that."`
	WaitForSelector      *WaitForSelector  `json:"waitForSelector,omitempty" doc:"An element to wait for after that."`
	WaitForEvent         *WaitForEvent     `json:"waitForEvent,omitempty" doc:"An event of the page to wait for after that."`
	Viewport             *Viewport         `json:"viewport,omitempty" doc:"The size of the page."`
	UserAgent            string            `json:"userAgent,omitempty" doc:"Replaces Chromium's User-Agent."`
	SetExtraHTTPHeaders  map[string]string `json:"setExtraHTTPHeaders,omitempty" doc:"Headers that are added to each request, by name."`
	Cookies              json.RawMessage   `json:"cookies,omitempty" doc:"Cookies to start with, as in a sessionContext."`
	SetJavaScriptEnabled *bool             `json:"setJavaScriptEnabled,omitempty" doc:"Whether the page runs its scripts." default:"true"`
	EmulateMediaType     string            `json:"emulateMediaType,omitempty" doc:"The medium for which style sheets apply." one:"screen,print"`
	RejectResourceTypes  []string          `json:"rejectResourceTypes,omitempty" doc:"Types of resources whose requests fail: document, stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, manifest, ping or other."`
	RejectRequestPattern []string          `json:"rejectRequestPattern,omitempty" doc:"Regular expressions. Requests fail if their addresses match one. At most 100, each of at most 1024 bytes."`
	BestAttempt          bool              `json:"bestAttempt,omitempty" doc:"Goes on when waiting takes too long."`
}

// GotoOptions say how to open a page.
type GotoOptions struct {
	WaitUntil json.RawMessage `json:"waitUntil,omitempty" doc:"load, domcontentloaded, networkidle0, networkidle2, or a list of them."`
	Timeout   float64         `json:"timeout,omitempty" doc:"Milliseconds." min:"0" max:"60000" default:"30000"`
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
	if _, err := r.GotoOptions.until(); err != nil {
		return err
	}
	if _, err := r.rejects(); err != nil {
		return err
	}
	if err := r.checkTags(); err != nil {
		return err
	}
	if err := r.checkWaits(); err != nil {
		return err
	}
	return r.checkScripts()
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

// read opens the page of a request, waits for what it names, and makes the answer.
func (r *PageRequest) read(ctx context.Context, p page.Page, answer func() (*Answer, error)) (*Answer, error) {
	if r.EmulateMediaType != "" {
		if err := p.EmulateMedia(ctx, r.EmulateMediaType); err != nil {
			return nil, err
		}
	}
	rejects, err := r.rejects()
	if err != nil {
		return nil, err
	}
	if len(rejects.Types)+len(rejects.Patterns) > 0 {
		end, err := p.Reject(ctx, rejects)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	if err := r.try(ctx, r.open(ctx, p)); err != nil {
		return nil, err
	}
	if err := r.addTags(ctx, p); err != nil {
		return nil, err
	}
	if err := r.wait(ctx, p); err != nil {
		return nil, err
	}
	return answer()
}

// try returns the error of a step, unless the request goes on without it.
func (r *PageRequest) try(ctx context.Context, err error) error {
	if r.BestAttempt && ctx.Err() == nil {
		return nil
	}
	return err
}

// open opens the page of a request.
func (r *PageRequest) open(ctx context.Context, p page.Page) error {
	until, err := r.GotoOptions.until()
	if err != nil {
		return err
	}
	if r.GotoOptions != nil {
		p.Timeout = duration(r.GotoOptions.Timeout)
	}
	if r.URL != "" {
		return p.Navigate(ctx, r.URL, until)
	}
	return p.SetContent(ctx, r.HTML, until)
}

// Answer is the body of an answer.
type Answer struct {
	Type string // media type
	Body []byte
}

// Read opens the page and returns its markup.
func (r *ContentRequest) Read(ctx context.Context, p page.Page) (*Answer, error) {
	return r.read(ctx, p, func() (*Answer, error) {
		markup, err := p.Content(ctx)
		return &Answer{Type: "text/html; charset=utf-8", Body: []byte(markup)}, err
	})
}

// Read opens the page and prints it.
func (r *PDFRequest) Read(ctx context.Context, p page.Page) (*Answer, error) {
	var o page.PDFOptions
	if r.Options != nil {
		var err error
		if o, err = r.Options.page(); err != nil {
			return nil, err
		}
	}
	return r.read(ctx, p, func() (*Answer, error) {
		document, err := p.PDF(ctx, o)
		return &Answer{Type: "application/pdf", Body: document}, err
	})
}
