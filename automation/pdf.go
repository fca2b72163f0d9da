package automation

import (
	"context"
	"encoding/json"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"

	"takeover/cdp"

	proto "github.com/chromedp/cdproto/cdp"
)

// pdfOperations are the operations of this file.
var pdfOperations = table{
	"page.pdf":       op(false, opPDF),       // {page,scale,paperWidth,marginTop,…: inches} → {data}
	"page.requestGC": op(false, opRequestGC), // {page}
}

// pdfParams are the options of a PDF; lengths are in inches.
type pdfParams struct {
	Page                string  `json:"page"`
	Scale               float64 `json:"scale"`
	DisplayHeaderFooter bool    `json:"displayHeaderFooter"`
	HeaderTemplate      string  `json:"headerTemplate"`
	FooterTemplate      string  `json:"footerTemplate"`
	PrintBackground     bool    `json:"printBackground"`
	Landscape           bool    `json:"landscape"`
	PageRanges          string  `json:"pageRanges"`
	PaperWidth          float64 `json:"paperWidth"`
	PaperHeight         float64 `json:"paperHeight"`
	MarginTop           float64 `json:"marginTop"`
	MarginRight         float64 `json:"marginRight"`
	MarginBottom        float64 `json:"marginBottom"`
	MarginLeft          float64 `json:"marginLeft"`
	PreferCSSPageSize   bool    `json:"preferCSSPageSize"`
	Tagged              bool    `json:"tagged"`
	Outline             bool    `json:"outline"`
}

// opPDF prints the page.
func opPDF(ctx context.Context, c *Client, p *pdfParams) (any, error) {
	pg, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	if err := c.options.Veil(ctx, pg); err != nil {
		return nil, err
	}
	answer, err := pg.PrintToPDF(ctx, page.PrintToPDFParams{
		Landscape: &p.Landscape, DisplayHeaderFooter: &p.DisplayHeaderFooter, PrintBackground: &p.PrintBackground, Scale: p.Scale,
		PaperWidth: p.PaperWidth, PaperHeight: p.PaperHeight,
		MarginTop: &p.MarginTop, MarginBottom: &p.MarginBottom, MarginLeft: &p.MarginLeft, MarginRight: &p.MarginRight,
		PageRanges: p.PageRanges, HeaderTemplate: p.HeaderTemplate, FooterTemplate: p.FooterTemplate,
		PreferCSSPageSize: &p.PreferCSSPageSize, GenerateTaggedPDF: &p.Tagged, GenerateDocumentOutline: &p.Outline,
	})
	if err != nil {
		return nil, err
	}
	var out struct {
		Data json.RawMessage `json:"data"` // the base64 text from Chromium
	}
	return &out, json.Unmarshal(answer, &out)
}

// opRequestGC makes the page collect garbage.
func opRequestGC(ctx context.Context, c *Client, p *pageParams) (any, error) {
	pg, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	_, err = cdp.Call(ctx, pg.Session(), heapprofiler.CollectGarbage, proto.Empty{})
	return emptyJSON, err
}
