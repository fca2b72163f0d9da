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
	_ = page.Page{Program: program, Timeout: lookTimeout}.Outline(ctx, maxThings, &p) // documented
	return p
}

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
	address, text, err := page.Page{Program: p.program, Timeout: lookTimeout}.SourceMap(ctx, match[1], maxMap)
	if err != nil || text == "" {
		return location
	}
	line, _ := strconv.Atoi(match[2])
	column, _ := strconv.Atoi(match[3])
	if source := sourceOf(address, text, line, column); source != "" {
		return source
	}
	return location
}

// sourceOf returns where a position of a script (from 1) lies in its source, by a source
// map, or "". The page wrote the map, and some wrong ones make the library panic.
func sourceOf(address, text string, line, column int) (source string) {
	defer func() {
		if recover() != nil {
			source = ""
		}
	}()
	consumer, err := sourcemap.Parse(address, []byte(text))
	if err != nil {
		return ""
	}
	if name, _, l, c, ok := consumer.Source(line, column-1); ok { // columns of source maps start at 0
		return fmt.Sprintf("%s:%d:%d", name, l, c+1)
	}
	return ""
}

func jsonText(text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`)
	}
	return raw
}
