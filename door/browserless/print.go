package browserless

import (
	"encoding/json"
	"strconv"
	"strings"

	"takeover/door/page"
	"takeover/invalid"
)

// PDFOptions are those of Puppeteer. Lengths are numbers of CSS pixels, or texts
// with a unit: px, in, cm or mm.
type PDFOptions struct {
	Scale               float64         `json:"scale,omitempty" doc:"Size of the print, 1 for as it is."`
	DisplayHeaderFooter bool            `json:"displayHeaderFooter,omitempty" doc:"Prints the header and the footer."`
	HeaderTemplate      string          `json:"headerTemplate,omitempty" doc:"Markup of the header."`
	FooterTemplate      string          `json:"footerTemplate,omitempty" doc:"Markup of the footer."`
	PrintBackground     bool            `json:"printBackground,omitempty" doc:"Prints backgrounds."`
	Landscape           bool            `json:"landscape,omitempty" doc:"Prints across the paper."`
	PageRanges          string          `json:"pageRanges,omitempty" doc:"Pages to print, such as 1-5."`
	Format              string          `json:"format,omitempty" doc:"The paper, such as a4. Default: letter."`
	Width               json.RawMessage `json:"width,omitempty" doc:"The paper's width, as a number or with its unit."`
	Height              json.RawMessage `json:"height,omitempty" doc:"The paper's height, as a number or with its unit."`
	Margin              *Margin         `json:"margin,omitempty" doc:"The margins: top, right, bottom, left."`
	PreferCSSPageSize   bool            `json:"preferCSSPageSize,omitempty" doc:"The page's own size of paper counts."`
	Tagged              bool            `json:"tagged,omitempty" doc:"Makes the document accessible."`
	Outline             bool            `json:"outline,omitempty" doc:"Adds an outline."`
}

// Margin holds the margins of paper.
type Margin struct {
	Top    json.RawMessage `json:"top,omitempty" doc:"A number of CSS pixels, or a length with its unit."`
	Right  json.RawMessage `json:"right,omitempty" doc:"A number of CSS pixels, or a length with its unit."`
	Bottom json.RawMessage `json:"bottom,omitempty" doc:"A number of CSS pixels, or a length with its unit."`
	Left   json.RawMessage `json:"left,omitempty" doc:"A number of CSS pixels, or a length with its unit."`
}

// papers are the formats of paper in inches.
var papers = map[string][2]float64{
	"letter": {8.5, 11}, "legal": {8.5, 14}, "tabloid": {11, 17}, "ledger": {17, 11},
	"a0": {33.1, 46.8}, "a1": {23.4, 33.1}, "a2": {16.54, 23.4}, "a3": {11.7, 16.54}, "a4": {8.27, 11.7}, "a5": {5.83, 8.27}, "a6": {4.13, 5.83},
}

// units are the units of lengths in inches. A CSS inch has 96 pixels.
var units = map[string]float64{"px": 1.0 / 96, "in": 1, "cm": 1 / 2.54, "mm": 1 / 25.4}

// maxInches bounds the lengths of a document.
const maxInches = 200

// page returns the options in the form of package page. The error is an
// *invalid.Error.
func (o *PDFOptions) page() (page.PDFOptions, error) {
	p := page.PDFOptions{
		Scale: o.Scale, DisplayHeaderFooter: o.DisplayHeaderFooter, HeaderTemplate: o.HeaderTemplate, FooterTemplate: o.FooterTemplate,
		PrintBackground: o.PrintBackground, Landscape: o.Landscape, PageRanges: o.PageRanges, PreferCSSPageSize: o.PreferCSSPageSize, Tagged: o.Tagged, Outline: o.Outline,
	}
	if o.Scale != 0 && (o.Scale < 0.1 || o.Scale > 2) {
		return p, invalid.Field("options.scale", "must be from 0.1 to 2")
	}
	p.PaperWidth, p.PaperHeight = papers["letter"][0], papers["letter"][1]
	if o.Format != "" {
		size, ok := papers[strings.ToLower(o.Format)]
		if !ok {
			return p, invalid.Field("options.format", "must be a format of paper, such as a4 or letter")
		}
		p.PaperWidth, p.PaperHeight = size[0], size[1]
	}
	margin := o.Margin
	if margin == nil {
		margin = &Margin{}
	}
	for _, f := range []struct {
		name  string
		given json.RawMessage
		to    *float64
	}{
		{"width", o.Width, &p.PaperWidth}, {"height", o.Height, &p.PaperHeight},
		{"margin.top", margin.Top, &p.MarginTop}, {"margin.right", margin.Right, &p.MarginRight},
		{"margin.bottom", margin.Bottom, &p.MarginBottom}, {"margin.left", margin.Left, &p.MarginLeft},
	} {
		if len(f.given) == 0 {
			continue
		}
		length, ok := inches(f.given)
		if !ok {
			return p, invalid.Field("options."+f.name, "must be a number of pixels, or a text such as 2cm")
		}
		*f.to = length
	}
	return p, nil
}

// inches reads a length.
func inches(raw json.RawMessage) (float64, bool) {
	var length float64
	if json.Unmarshal(raw, &length) == nil {
		length *= units["px"]
		return length, length >= 0 && length <= maxInches
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || len(text) < 2 {
		return 0, false
	}
	unit, ok := units[strings.ToLower(text[len(text)-2:])]
	if ok {
		text = text[:len(text)-2]
	} else {
		unit = units["px"]
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	length = number * unit
	return length, err == nil && length >= 0 && length <= maxInches
}
