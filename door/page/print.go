package page

import (
	"context"
	"encoding/base64"
	"encoding/json"
)

// PDFOptions say how to print a page. Lengths are in inches. The zero value of
// each field is its default.
type PDFOptions struct {
	Scale               float64 `json:"scale,omitempty"` // 0.1 to 2; default 1
	DisplayHeaderFooter bool    `json:"displayHeaderFooter"`
	HeaderTemplate      string  `json:"headerTemplate,omitempty"` // markup, as Chromium documents it
	FooterTemplate      string  `json:"footerTemplate,omitempty"`
	PrintBackground     bool    `json:"printBackground"`
	Landscape           bool    `json:"landscape"`
	PageRanges          string  `json:"pageRanges,omitempty"` // such as "1-3, 5"; default all
	PaperWidth          float64 `json:"paperWidth"`           // default that of letter paper
	PaperHeight         float64 `json:"paperHeight"`
	MarginTop           float64 `json:"marginTop"`
	MarginRight         float64 `json:"marginRight"`
	MarginBottom        float64 `json:"marginBottom"`
	MarginLeft          float64 `json:"marginLeft"`
	PreferCSSPageSize   bool    `json:"preferCSSPageSize"` // take the size from the page's style sheets
	Tagged              bool    `json:"tagged"`            // for readers
	Outline             bool    `json:"outline"`
}

// letter paper, in inches.
const letterWidth, letterHeight = 8.5, 11

// PDF prints the page.
func (p Page) PDF(ctx context.Context, o PDFOptions) ([]byte, error) {
	if o.PaperWidth == 0 || o.PaperHeight == 0 {
		o.PaperWidth, o.PaperHeight = letterWidth, letterHeight
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	params, err := fields(o)
	if err != nil {
		return nil, err
	}
	var answer pictureAnswer
	if err := p.onPage(ctx, "page.pdf", params, &answer); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(answer.Data)
}

// SetContent replaces the page's document. until is as for Navigate.
func (p Page) SetContent(ctx context.Context, html, until string) error {
	return p.onFrame(ctx, "frame.setContent", map[string]any{"html": html, "waitUntil": until, "timeout": p.ms()}, nil)
}

// Status returns the HTTP status of the page's document, or 0 if it has none.
func (p Page) Status(ctx context.Context) (int, error) {
	const code = "() => performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0"
	raw, err := p.Evaluate(ctx, "", code, true, nil)
	if err != nil {
		return 0, err
	}
	var status int
	return status, json.Unmarshal(raw, &status)
}
