package codegen

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"takeover/locator"
)

// Recording is what a person did, from one page to another.
type Recording struct {
	Title string       `json:"title"` // what they were asked to do
	Start string       `json:"start"` // the address before; "" or about:blank for none
	End   string       `json:"end"`   // likewise, after
	Tab   uint32       `json:"tab"`   // of the first page
	Steps []PersonStep `json:"steps"`
	Cut   bool         `json:"cut,omitempty"` // there was no room for the rest
}

// Script returns the recording as a test file for Playwright, which this server runs, too.
// What was secret is asked for at its beginning.
func (r Recording) Script() string {
	var b strings.Builder
	b.WriteString("import { expect, test } from '@playwright/test';\n\n")
	body, secrets := r.body("  ")
	if len(secrets) > 0 {
		b.WriteString("// What the person typed into these fields is not kept. Put it in from where you keep secrets.\nconst secrets = {\n")
		for _, name := range secrets {
			b.WriteString("  " + name + ": '',\n")
		}
		b.WriteString("};\n\n")
	}
	fmt.Fprintf(&b, "test(%s, async ({ page }) => {\n", locator.Quote(r.Title))
	b.WriteString(body)
	if r.Cut {
		b.WriteString("  // The person did more. There was no room for it.\n")
	}
	if pattern := addressPattern(r.End); pattern != "" && !r.Cut {
		last := "page"
		if n := len(r.Steps); n > 0 {
			last = pageOf(r.tabs(), r.Steps[n-1].Tab)
		}
		fmt.Fprintf(&b, "  await expect(%s).toHaveURL(%s);\n", last, pattern)
	}
	b.WriteString("});\n")
	return b.String()
}

// body returns the calls, and the names of the secrets that they need.
func (r Recording) body(indent string) (text string, secrets []string) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, indent+format+"\n", args...) }
	if r.Start != "" && r.Start != "about:blank" && (len(r.Steps) == 0 || r.Steps[0].Kind != Goto) {
		line("await page.goto(%s);", locator.Quote(r.Start))
	}
	tabs := r.tabs()
	known := map[string]bool{"page": true}
	for _, s := range r.Steps {
		page := pageOf(tabs, s.Tab)
		if s.Kind == Open {
			known[page] = true
			line("const %s = await page.context().newPage();", page)
			line("await %s.goto(%s);", page, locator.Quote(s.URL))
			continue
		}
		if !known[page] { // the tab that a step before opened
			known[page] = true
			at := slices.Index(tabs, s.Tab)
			line("await expect.poll(() => page.context().pages().length).toBeGreaterThan(%d);", at)
			line("const %s = page.context().pages()[%d];", page, at)
		}
		on := page
		for _, frame := range s.Frames {
			on += "." + locator.Of(frame) + ".contentFrame()"
		}
		if s.Selector != "" {
			on += "." + locator.Of(s.Selector)
		}
		if s.Secret != "" && !slices.Contains(secrets, s.Secret) {
			secrets = append(secrets, s.Secret)
		}
		switch s.Kind {
		case Click, DblClick, Check, Uncheck:
			line("await %s.%s();", on, s.Kind)
		case Fill:
			value := locator.Quote(s.Value)
			if s.Secret != "" {
				value = "secrets." + s.Secret
			}
			line("await %s.fill(%s);", on, value)
		case Select:
			values := "[" + labels(s.Values) + "]"
			if s.Secret != "" {
				values = "secrets." + s.Secret
			}
			line("await %s.selectOption(%s);", on, values)
		case Press:
			line("await %s.press(%s);", on, locator.Quote(s.Key))
		case Files:
			line("// The person chose files here: %s", oneLine(strings.Join(s.Values, ", ")))
			line("// await %s.setInputFiles([]);", on)
		case Drag:
			line("{ // A drag is made for what was there; the next time may need another one.")
			line("  await %s.hover();", on)
			line("  const box = await %s.boundingBox();", on)
			line("  await %s.mouse.down();", page)
			line("  await %s.mouse.move(box.x + box.width / 2 + %s, box.y + box.height / 2 + %s, { steps: 20 });", page, number(s.X), number(s.Y))
			line("  await %s.mouse.up();", page)
			line("}")
		case Goto:
			line("await %s.goto(%s);", page, locator.Quote(s.URL))
		case Back:
			line("await %s.goBack();", page)
		case Forward:
			line("await %s.goForward();", page)
		case Reload:
			line("await %s.reload();", page)
		case Open: // above
		}
	}
	return b.String(), secrets
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// oneLine returns a text that does not end a comment.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

func labels(values []string) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = "{ label: " + locator.Quote(v) + " }"
	}
	return strings.Join(list, ", ")
}

// tabs returns the tabs of the steps, in the order in which they came, the first page first.
func (r Recording) tabs() []uint32 {
	tabs := []uint32{r.Tab}
	for _, s := range r.Steps {
		if !slices.Contains(tabs, s.Tab) {
			tabs = append(tabs, s.Tab)
		}
	}
	return tabs
}

// pageOf returns the name of a tab's page.
func pageOf(tabs []uint32, tab uint32) string {
	if at := slices.Index(tabs, tab); at > 0 {
		return "page" + strconv.Itoa(at+1)
	}
	return "page"
}

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// secretName returns a name for what goes into a field.
func secretName(selector string) string {
	_, label, _ := strings.Cut(selector, `"`)
	label, _, _ = strings.Cut(label, `"`)
	words := word.FindAllString(strings.ToLower(label), 3)
	if len(words) == 0 {
		return "secret"
	}
	name := words[0]
	for _, w := range words[1:] {
		name += strings.ToUpper(w[:1]) + w[1:]
	}
	return name
}

// addressPattern returns a regular expression of JavaScript for an address without its query,
// which may be another one the next time; or "" for none.
func addressPattern(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return "/^" + strings.ReplaceAll(regexp.QuoteMeta(u.String()), "/", `\/`) + `([?#]|$)/`
}
