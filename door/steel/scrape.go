package steel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"golang.org/x/net/html"

	"takeover/door/page"
	"takeover/invalid"
)

const (
	// maxMarkup bounds the markup of a page, in bytes.
	maxMarkup = 8 << 20
	// maxLinks bounds the links in an answer.
	maxLinks = 5000
)

// ErrTooLarge is returned for a page whose markup is too large.
var ErrTooLarge = errors.New("the page is too large")

// PageRequest is what all calls that read one page have.
type PageRequest struct {
	URL      string          `json:"url" doc:"An address that begins with http or https." required:"true"`
	Delay    float64         `json:"delay,omitempty" doc:"Milliseconds to wait after the page has loaded." min:"0" max:"30000" default:"0"`
	UseProxy json.RawMessage `json:"useProxy,omitempty" doc:"Refused: this server has no proxies of its own."`
	Region   json.RawMessage `json:"region,omitempty" doc:"Refused: this server has no regions."`
}

// check returns what is wrong with a request.
func (r *PageRequest) check() (bad []invalid.FieldError) {
	if u, err := url.Parse(r.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		bad = append(bad, invalid.FieldError{Field: "url", Error: "must be an address that begins with http or https"})
	}
	if Asks(r.UseProxy) {
		bad = append(bad, invalid.FieldError{Field: "useProxy", Error: noProxies})
	}
	if Asks(r.Region) {
		bad = append(bad, invalid.FieldError{Field: "region", Error: "this server has no regions"})
	}
	return bad
}

const noProxies = "this server has no proxies of its own; create a session with proxyUrl"

// Asks reports whether a field's value asks for something: false, null, zero and
// empty values do not.
func Asks(value json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "false", "0", `""`, "[]", "{}"}, strings.TrimSpace(string(value)))
}

// ScrapeRequest is the body of POST /v1/scrape.
type ScrapeRequest struct {
	PageRequest
	Format     []string `json:"format,omitempty" doc:"Any of html, cleaned_html, markdown, readability. Default: html."`
	Screenshot bool     `json:"screenshot,omitempty" doc:"Also takes a picture."`
	PDF        bool     `json:"pdf,omitempty" doc:"Also prints the page."`
}

// Check returns an *invalid.Error, or nil.
func (r *ScrapeRequest) Check() error {
	bad := r.check()
	for _, format := range r.Format {
		if !slices.Contains([]string{"html", "cleaned_html", "markdown", "readability"}, format) {
			bad = append(bad, invalid.FieldError{Field: "format", Error: "must be a list of html, cleaned_html, markdown, readability"})
			break
		}
	}
	return errorOf(bad)
}

// ScreenshotRequest is the body of POST /v1/screenshot.
type ScreenshotRequest struct {
	PageRequest
	FullPage bool `json:"fullPage,omitempty" doc:"The whole page instead of what is in view." default:"false"`
}

// Check returns an *invalid.Error, or nil.
func (r *ScreenshotRequest) Check() error { return errorOf(r.check()) }

// PDFRequest is the body of POST /v1/pdf.
type PDFRequest struct{ PageRequest }

// Check returns an *invalid.Error, or nil.
func (r *PDFRequest) Check() error { return errorOf(r.check()) }

func errorOf(bad []invalid.FieldError) error {
	if len(bad) == 0 {
		return nil
	}
	return &invalid.Error{Fields: bad}
}

// Hosted is where a picture or a document can be fetched.
type Hosted struct {
	URL string `json:"url" doc:"The address of the picture or document, for ten minutes."`
}

// Host keeps a picture or a document, and returns its address.
type Host func(content []byte, mime string) (string, error)

// Scraped is the answer to POST /v1/scrape.
type Scraped struct {
	Content    Content         `json:"content" doc:"The page's content, in each format."`
	Links      []Link          `json:"links" doc:"The page's links."`
	Metadata   json.RawMessage `json:"metadata" doc:"What the page says about itself: title, description, language and others."`
	Screenshot *Hosted         `json:"screenshot,omitempty" doc:"The picture."`
	PDF        *Hosted         `json:"pdf,omitempty" doc:"The document."`
}

// Content is a page's content in the formats that were asked for.
type Content struct {
	HTML        string       `json:"html,omitempty" doc:"The page's markup."`
	CleanedHTML string       `json:"cleaned_html,omitempty" doc:"The markup without scripts and style."`
	Markdown    string       `json:"markdown,omitempty" doc:"The page as Markdown."`
	Readability *Readability `json:"readability,omitempty" doc:"The main text."`
}

// Readability is the main text of a page.
type Readability struct {
	Title       string `json:"title" doc:"The title."`
	Byline      string `json:"byline" doc:"The author."`
	Excerpt     string `json:"excerpt" doc:"The beginning, or the page's own summary."`
	SiteName    string `json:"siteName" doc:"The name of the site."`
	Lang        string `json:"lang" doc:"The language."`
	Content     string `json:"content" doc:"The main text as markup."`
	TextContent string `json:"textContent" doc:"The main text as plain text."`
	Length      int    `json:"length" doc:"Number of characters of the plain text."`
}

// Link is a link of a page.
type Link struct {
	URL  string `json:"url" doc:"Where the link leads."`
	Text string `json:"text" doc:"The link's text."`
}

// open opens the page of a request.
func (r *PageRequest) open(ctx context.Context, p page.Page) error {
	if err := p.Navigate(ctx, r.URL, "load"); err != nil {
		return err
	}
	if r.Delay == 0 {
		return nil
	}
	select {
	case <-time.After(time.Duration(r.Delay * float64(time.Millisecond))):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Scrape opens a page and returns its content.
func (r *ScrapeRequest) Scrape(ctx context.Context, p page.Page, host Host) (*Scraped, error) {
	if err := r.open(ctx, p); err != nil {
		return nil, err
	}
	s := &Scraped{Links: []Link{}}
	if err := s.describe(ctx, p); err != nil {
		return nil, err
	}
	markup, err := p.Content(ctx)
	if err != nil {
		return nil, err
	}
	if len(markup) > maxMarkup {
		return nil, fmt.Errorf("%w: %d bytes of markup, at most %d", ErrTooLarge, len(markup), maxMarkup)
	}
	formats := r.Format
	if len(formats) == 0 {
		formats = []string{"html"}
	}
	for _, format := range formats {
		if err := s.Content.add(format, markup, r.URL); err != nil {
			return nil, err
		}
	}
	if r.Screenshot {
		if s.Screenshot, err = picture(ctx, p, false, host); err != nil {
			return nil, err
		}
	}
	if r.PDF {
		if s.PDF, err = document(ctx, p, host); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Screenshot opens a page and takes a picture.
func (r *ScreenshotRequest) Screenshot(ctx context.Context, p page.Page, host Host) (*Hosted, error) {
	if err := r.open(ctx, p); err != nil {
		return nil, err
	}
	return picture(ctx, p, r.FullPage, host)
}

// Print opens a page and prints it.
func (r *PDFRequest) Print(ctx context.Context, p page.Page, host Host) (*Hosted, error) {
	if err := r.open(ctx, p); err != nil {
		return nil, err
	}
	return document(ctx, p, host)
}

func picture(ctx context.Context, p page.Page, full bool, host Host) (*Hosted, error) {
	image, err := p.Screenshot(ctx, page.ScreenshotOptions{Format: "png", FullPage: full})
	if err != nil {
		return nil, err
	}
	address, err := host(image, "image/png")
	return &Hosted{URL: address}, err
}

func document(ctx context.Context, p page.Page, host Host) (*Hosted, error) {
	pdf, err := p.PDF(ctx, page.PDFOptions{PrintBackground: true})
	if err != nil {
		return nil, err
	}
	address, err := host(pdf, "application/pdf")
	return &Hosted{URL: address}, err
}

// describe reads the links and the metadata of the page.
func (s *Scraped) describe(ctx context.Context, p page.Page) error {
	var raw json.RawMessage
	if err := p.Summary(ctx, maxLinks, &raw); err != nil {
		return err
	}
	if len(raw) > maxMarkup {
		return fmt.Errorf("%w: %d bytes of links and metadata, at most %d", ErrTooLarge, len(raw), maxMarkup)
	}
	var found struct {
		Links    []Link
		Metadata json.RawMessage
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return err
	}
	if found.Links != nil {
		s.Links = found.Links
	}
	s.Metadata = found.Metadata
	return nil
}

// add adds a format of the page's markup.
func (c *Content) add(format, markup, address string) error {
	switch format {
	case "html":
		c.HTML = markup
		return nil
	case "markdown":
		cleaned, err := clean(markup)
		if err != nil {
			return err
		}
		c.Markdown, err = htmltomarkdown.ConvertString(cleaned)
		return err
	case "cleaned_html":
		cleaned, err := clean(markup)
		c.CleanedHTML = cleaned
		return err
	}
	base, err := url.Parse(address)
	if err != nil {
		return err
	}
	article, err := readability.FromReader(strings.NewReader(markup), base)
	if err != nil {
		return fmt.Errorf("find the main text: %w", err)
	}
	c.Readability = &Readability{Title: article.Title(), Byline: article.Byline(), Excerpt: article.Excerpt(), SiteName: article.SiteName(), Lang: article.Language()}
	if article.Node == nil { // a page without a text
		return nil
	}
	var content, text bytes.Buffer
	if err := errors.Join(article.RenderHTML(&content), article.RenderText(&text)); err != nil {
		return fmt.Errorf("find the main text: %w", err)
	}
	c.Readability.Content, c.Readability.TextContent, c.Readability.Length = content.String(), text.String(), len([]rune(text.String()))
	return nil
}

// dropped are the elements that cleaned markup lacks, and kept the attributes that
// it has.
var (
	dropped = []string{"script", "style", "noscript", "template", "link", "meta", "iframe", "object", "embed", "svg", "canvas"}
	kept    = []string{"href", "src", "alt", "title", "colspan", "rowspan", "lang", "dir", "type", "name", "value", "placeholder"}
)

// strip removes attributes and children of a node.
func strip(node *html.Node) {
	node.Attr = slices.DeleteFunc(node.Attr, func(a html.Attribute) bool { return !slices.Contains(kept, a.Key) })
	for child := node.FirstChild; child != nil; {
		next := child.NextSibling
		if child.Type == html.CommentNode || child.Type == html.ElementNode && slices.Contains(dropped, child.Data) {
			node.RemoveChild(child)
		}
		child = next
	}
}

// clean returns markup without scripts, styles, comments, and most attributes.
func clean(markup string) (string, error) {
	root, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		return "", fmt.Errorf("read markup: %w", err)
	}
	strip(root)
	for node := range root.Descendants() {
		strip(node)
	}
	var out bytes.Buffer
	if err := html.Render(&out, root); err != nil {
		return "", fmt.Errorf("write markup: %w", err)
	}
	return out.String(), nil
}
