package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/go-sourcemap/sourcemap"

	"takeover/door/page"
	"takeover/session"
)

// lookTimeout is how long looking at the page may take.
const lookTimeout = 5 * time.Second

const (
	maxThings = 200     // things that can be clicked
	maxMap    = 8 << 20 // bytes of a source map
)

// Page is what an analyst sees of the shown page.
type Page struct {
	URL        string      `json:"url"`
	Title      string      `json:"title"`
	Clickable  []Clickable `json:"clickable"`
	Violations []Violation `json:"violations"` // of the content security policy

	program *session.Program
}

// Clickable is something on the page that can be clicked.
type Clickable struct {
	Selector string `json:"selector"`
	Text     string `json:"text"`
}

// Violation is what a page's content security policy has refused.
type Violation struct {
	Directive string `json:"directive"`
	Blocked   string `json:"blocked"`
	Source    string `json:"source"`
	Line      int    `json:"line"`
}

// look reads the shown page. What cannot be read stays empty.
func look(ctx context.Context, program *session.Program) Page {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	p := Page{program: program}
	raw, err := page.Page{Program: program, Timeout: lookTimeout}.Evaluate(ctx, "", lookCode, true, maxThings)
	if err == nil {
		_ = json.Unmarshal(raw, &p) // a page may have replaced what the code uses
	}
	return p
}

// lookCode returns the fields of Page. Its selectors are paths of positions, which
// fit any page.
const lookCode = `async most => {
  const path = e => {
    const parts = [];
    for (; e && e !== document.documentElement; e = e.parentElement)
      parts.unshift(e.tagName.toLowerCase() + ':nth-child(' + (1 + [...e.parentElement.children].indexOf(e)) + ')');
    return 'html > ' + parts.join(' > ');
  };
  const clickable = [];
  for (const e of document.querySelectorAll('a, button, input[type=button], input[type=submit], summary, [role=button], [role=tab], [role=menuitem], [onclick]')) {
    const text = (e.innerText || e.value || e.getAttribute('aria-label') || e.title || '').trim().slice(0, 200);
    if (text && e.getClientRects().length && clickable.length < most)
      clickable.push({ selector: path(e), text });
  }
  const violations = [];
  try {
    const observer = new ReportingObserver(() => {}, { types: ['csp-violation'], buffered: true });
    observer.observe();
    await new Promise(resolve => setTimeout(resolve, 20));
    for (const { body } of observer.takeRecords())
      violations.push({ directive: body.effectiveDirective || '', blocked: body.blockedURL || '', source: body.sourceFile || '', line: body.lineNumber || 0 });
    observer.disconnect();
  } catch {}
  return { url: location.href, title: document.title, clickable, violations };
}`

var position = regexp.MustCompile(`^(.*):(\d+):(\d+)$`)

// original returns where a position of a script lies in its source, by the script's
// source map, which the page itself fetches. It returns the position unchanged if
// there is no map.
func (p *Page) original(ctx context.Context, location string) string {
	match := position.FindStringSubmatch(location)
	if match == nil || p.program == nil {
		return location
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	raw, err := page.Page{Program: p.program, Timeout: lookTimeout}.Evaluate(ctx, "", mapCode, true, map[string]any{"url": match[1], "most": maxMap})
	var found struct{ URL, Text string }
	if err != nil || json.Unmarshal(raw, &found) != nil || found.Text == "" {
		return location
	}
	consumer, err := sourcemap.Parse(found.URL, []byte(found.Text))
	if err != nil {
		return location
	}
	line, _ := strconv.Atoi(match[2])
	column, _ := strconv.Atoi(match[3])
	if source, _, l, c, ok := consumer.Source(line, column-1); ok { // columns of source maps start at 0
		return fmt.Sprintf("%s:%d:%d", source, l, c+1)
	}
	return location
}

const mapCode = `async ({url, most}) => {
  const text = await (await fetch(url)).text();
  const named = [...text.matchAll(/\/\/[#@] sourceMappingURL=(\S+)/g)].pop();
  if (!named)
    return null;
  const at = new URL(named[1], url).href;
  const map = await (await fetch(at)).text();
  return map.length > most ? null : { URL: at.startsWith('data:') ? url : at, Text: map };
}`

func jsonText(text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`)
	}
	return raw
}
