// Package page lets doors drive pages: typed calls of the operations that most
// doors need. Each call is one operation of a session's program; what it means and
// what its errors say is decided where the operation is, as for scripts.
package page

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"takeover/session"
)

// refEngine begins the selector of a ref of a snapshot.
const refEngine = "aria-ref="

// DefaultTimeout is how long an operation may take, if the Page does not say.
const DefaultTimeout = 30 * time.Second

// Page is a tab of a session that a program drives. It is a value: copy it to
// change a field. Its methods may be called from any goroutine. A method waits
// while a person is in control, for as long as ctx allows, and then takes at most
// Timeout. In what it returns, what people typed into secret fields is hidden. Its
// error is one of Playwright's, of package automation, or one of
// session's.
type Page struct {
	Program *session.Program
	Tab     uint32        // 0 for the one that people see
	Timeout time.Duration // of an operation, without waiting for the right to act; default DefaultTimeout

	within time.Duration // of an operation that has no timeout of its own
}

// call runs an operation with the parameters that params returns, and decodes its
// result unless into is nil.
func (p Page) call(ctx context.Context, operation string, params func(session.PageNames) any, into any) error {
	client, err := p.Program.Client(ctx)
	if err != nil {
		return err
	}
	names, err := client.Page(p.Tab)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(params(names))
	if err != nil {
		return err
	}
	_, picture := into.(*pictureAnswer)
	result, err := client.Do(ctx, session.Operation{Name: operation, Params: raw, Raw: picture, Within: p.within})
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(result, into)
}

// onPage runs an operation whose parameters name the page.
func (p Page) onPage(ctx context.Context, operation string, params map[string]any, into any) error {
	return p.call(ctx, operation, func(n session.PageNames) any {
		params["page"] = n.Page
		return params
	}, into)
}

// onFrame runs an operation whose parameters name the main frame.
func (p Page) onFrame(ctx context.Context, operation string, params map[string]any, into any) error {
	return p.call(ctx, operation, func(n session.PageNames) any {
		params["frame"] = n.Frame
		return params
	}, into)
}

// onTarget runs an operation on an element.
func (p Page) onTarget(ctx context.Context, operation, target string, params map[string]any, into any) error {
	strict, given := params["strict"].(bool)
	strict = strict || !given
	if gone, err := p.refIsGone(ctx, operation, target); err != nil || gone {
		return &TargetError{Selector: Selector(target), Strict: strict, err: cmp.Or(err, errRefGone)}
	}
	params["selector"], params["strict"], params["timeout"] = Selector(target), strict, p.ms()
	if err := p.onFrame(ctx, "frame."+operation, params, into); err != nil {
		return &TargetError{Selector: Selector(target), Strict: strict, err: err}
	}
	return nil
}

// errRefGone is the error of an operation on an element that has left the page. No other
// element gets its ref, so waiting would not help.
var errRefGone = errors.New("the element of this ref is not on the page")

// refIsGone reports whether an operation, which would wait for its element, names one by
// a ref that the page does not have.
func (p Page) refIsGone(ctx context.Context, operation, target string) (bool, error) {
	if operation == "count" || operation == "waitForSelector" || !strings.HasPrefix(Selector(target), refEngine) {
		return false, nil
	}
	n, err := p.Count(ctx, target)
	return n == 0, err
}

// TargetError is the error of an operation on an element.
type TargetError struct {
	Selector string // of the element
	Strict   bool   // whether the selector must match just one
	err      error
}

// Error returns the text of the operation's error.
func (e *TargetError) Error() string { return e.err.Error() }

// Unwrap returns the operation's error.
func (e *TargetError) Unwrap() error { return e.err }

// ms returns the timeout in milliseconds, as operations have it.
func (p Page) ms() float64 {
	if p.Timeout == 0 {
		p.Timeout = DefaultTimeout
	}
	return float64(p.Timeout) / float64(time.Millisecond)
}

// reference matches the name of an element in a snapshot.
var reference = regexp.MustCompile(`^(f\d+)?e\d+$`)

// Selector returns the selector of a target: of a reference from a snapshot, such
// as e12 or f1e3, or the selector itself.
func Selector(target string) string {
	if reference.MatchString(target) {
		return refEngine + target
	}
	return target
}

// Navigate opens an address. until is load, domcontentloaded, networkidle or
// commit; empty means load.
func (p Page) Navigate(ctx context.Context, url, until string) error {
	return p.onFrame(ctx, "frame.goto", map[string]any{"url": url, "waitUntil": until, "timeout": p.ms()}, nil)
}

// Back goes back in the tab's history.
func (p Page) Back(ctx context.Context) error { return p.history(ctx, "page.goBack") }

// Forward goes forward in the tab's history.
func (p Page) Forward(ctx context.Context) error { return p.history(ctx, "page.goForward") }

// Reload loads the page again.
func (p Page) Reload(ctx context.Context) error { return p.history(ctx, "page.reload") }

func (p Page) history(ctx context.Context, operation string) error {
	return p.onPage(ctx, operation, map[string]any{"timeout": p.ms()}, nil)
}

// ClickOptions say how to click. The zero value of each field is its default.
type ClickOptions struct {
	Button    string   `json:"button,omitempty"`     // left (default), right or middle
	Count     int      `json:"clickCount,omitempty"` // default 1
	Modifiers []string `json:"modifiers,omitempty"`  // Alt, Control, ControlOrMeta, Meta, Shift
	Position  *Point   `json:"position,omitempty"`   // within the element; default its middle
	Force     bool     `json:"force,omitempty"`      // do not wait until the element can be clicked
}

// Point is a position in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Click clicks an element.
func (p Page) Click(ctx context.Context, target string, o ClickOptions) error {
	params, err := fields(o)
	if err != nil {
		return err
	}
	operation := "click"
	if o.Count == 2 {
		operation = "dblclick"
		delete(params, "clickCount")
	}
	return p.onTarget(ctx, operation, target, params, nil)
}

// Hover moves the mouse to an element.
func (p Page) Hover(ctx context.Context, target string) error {
	return p.onTarget(ctx, "hover", target, map[string]any{}, nil)
}

// Drag drags an element to another one.
func (p Page) Drag(ctx context.Context, from, to string) error {
	return p.onFrame(ctx, "frame.dragAndDrop", map[string]any{
		"sourceSelector": Selector(from), "targetSelector": Selector(to), "strict": true, "timeout": p.ms(),
	}, nil)
}

// Fill replaces the text of a field.
func (p Page) Fill(ctx context.Context, target, text string) error {
	return p.onTarget(ctx, "fill", target, map[string]any{"value": text}, nil)
}

// Type presses the keys for a text, with a pause between them. It adds to the text
// of a field.
func (p Page) Type(ctx context.Context, target, text string, pause time.Duration) error {
	return p.onTarget(ctx, "type", target, map[string]any{"text": text, "delay": float64(pause) / float64(time.Millisecond)}, nil)
}

// Press presses a key, or keys joined by plus signs such as Control+A, in an
// element or, if target is empty, in the element that has the focus.
func (p Page) Press(ctx context.Context, target, key string) error {
	if target == "" {
		return p.onPage(ctx, "keyboard.press", map[string]any{"key": key}, nil)
	}
	return p.onTarget(ctx, "press", target, map[string]any{"key": key}, nil)
}

// Check sets whether a checkbox is checked, or checks a radio button.
func (p Page) Check(ctx context.Context, target string, checked bool) error {
	operation := "check"
	if !checked {
		operation = "uncheck"
	}
	return p.onTarget(ctx, operation, target, map[string]any{}, nil)
}

// Select chooses options by their values or labels, and returns the values of those
// that are chosen then.
func (p Page) Select(ctx context.Context, target string, options ...string) ([]string, error) {
	chosen := make([]map[string]string, len(options))
	for i, option := range options {
		chosen[i] = map[string]string{"valueOrLabel": option}
	}
	var answer struct{ Value []string }
	err := p.onTarget(ctx, "selectOption", target, map[string]any{"options": chosen}, &answer)
	return answer.Value, err
}

// Upload gives files of the session to a file field.
func (p Page) Upload(ctx context.Context, target string, names ...string) error {
	return p.onTarget(ctx, "setInputFiles", target, map[string]any{"names": names}, nil)
}

// ScrollTo scrolls an element into view.
func (p Page) ScrollTo(ctx context.Context, target string) error {
	return p.onTarget(ctx, "scrollIntoViewIfNeeded", target, map[string]any{}, nil)
}

// Wheel turns the mouse wheel at the mouse's position, by CSS pixels.
func (p Page) Wheel(ctx context.Context, dx, dy float64) error {
	return p.onPage(ctx, "mouse.wheel", map[string]any{"deltaX": dx, "deltaY": dy}, nil)
}

// Scroll scrolls the page up, down, left or right: by CSS pixels, or by most of the
// window if amount is 0.
func (p Page) Scroll(ctx context.Context, direction string, amount int) error {
	return p.onFrame(ctx, "frame.scroll", map[string]any{"direction": direction, "amount": amount, "timeout": p.ms()}, nil)
}

// MoveMouse moves the mouse to a position in the viewport.
func (p Page) MoveMouse(ctx context.Context, to Point) error {
	return p.onPage(ctx, "mouse.move", map[string]any{"x": to.X, "y": to.Y}, nil)
}

// ClickAt clicks a position in the viewport.
func (p Page) ClickAt(ctx context.Context, at Point, button string) error {
	return p.onPage(ctx, "mouse.click", map[string]any{"x": at.X, "y": at.Y, "button": button}, nil)
}

// WaitFor waits until an element is visible, hidden, attached or detached.
func (p Page) WaitFor(ctx context.Context, target, state string) error {
	return p.onTarget(ctx, "waitForSelector", target, map[string]any{"state": state, "omitReturnValue": true, "strict": false}, nil)
}

// WaitForLoad waits until the page has reached a state: load, domcontentloaded or
// networkidle.
func (p Page) WaitForLoad(ctx context.Context, state string) error {
	return p.onFrame(ctx, "frame.waitForLoadState", map[string]any{"state": state, "timeout": p.ms()}, nil)
}

// Settle waits until the page has come to rest.
func (p Page) Settle(ctx context.Context) error {
	return p.onPage(ctx, "page.waitForSettled", map[string]any{"timeout": p.ms()}, nil)
}

// WaitForDrawing waits until the page shows what earlier input did. A hidden page shows
// nothing, so it waits until the timeout.
func (p Page) WaitForDrawing(ctx context.Context) error {
	return p.onFrame(ctx, "frame.waitForDrawing", map[string]any{"timeout": p.ms()}, nil)
}

// Title returns the page's title.
func (p Page) Title(ctx context.Context) (string, error) {
	var answer struct{ Value string }
	err := p.onFrame(ctx, "frame.title", map[string]any{"timeout": p.ms()}, &answer)
	return answer.Value, err
}

// Content returns the page's markup.
func (p Page) Content(ctx context.Context) (string, error) {
	var answer struct{ Value string }
	err := p.onFrame(ctx, "frame.content", map[string]any{"timeout": p.ms()}, &answer)
	return answer.Value, err
}

// Text returns the visible text of an element.
func (p Page) Text(ctx context.Context, target string) (string, error) {
	var answer struct{ Value string }
	err := p.onTarget(ctx, "innerText", target, map[string]any{}, &answer)
	return answer.Value, err
}

// Count returns how many elements match a selector now.
func (p Page) Count(ctx context.Context, target string) (int, error) {
	var answer struct{ Value int }
	err := p.onTarget(ctx, "count", target, map[string]any{}, &answer)
	return answer.Value, err
}

// Evaluate evaluates code in the page: an expression, or a function that gets arg
// and, if target is not empty, the element before it. It returns the value as
// JSON; what JSON cannot express becomes null or a text.
func (p Page) Evaluate(ctx context.Context, target, code string, isFunction bool, arg any) (json.RawMessage, error) {
	tagged, err := tag(arg)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"expression": code, "isFunction": isFunction, "arg": map[string]any{"value": tagged, "handles": []string{}}}
	var answer struct{ Value json.RawMessage }
	if target == "" {
		err = p.onFrame(ctx, "frame.evaluate", params, &answer)
	} else {
		err = p.onTarget(ctx, "evaluateOnElement", target, params, &answer)
	}
	if err != nil {
		return nil, err
	}
	return untag(answer.Value)
}

// Vitals are figures of a page. Times are in ms since its navigation began; one that is
// not known yet is 0.
type Vitals struct {
	LoadTime    float64 `json:"loadTime"` // until the end of the load event
	TTFB        float64 `json:"ttfb"`     // until the first byte
	FCP         float64 `json:"fcp"`      // until the first paint of content
	LCP         float64 `json:"lcp"`      // until the largest paint of content so far
	LongTasks   int     `json:"longTasks"`
	LongestTask float64 `json:"longestTask"`
	HeapUsed    int64   `json:"-"` // bytes of JavaScript's heap
}

// Vitals reads how quickly the page loaded, and how busy and large it is. The page
// cannot change the answer, and notices nothing.
func (p Page) Vitals(ctx context.Context) (Vitals, error) {
	var answer struct {
		Value    Vitals
		HeapUsed float64
	}
	err := p.onFrame(ctx, "frame.vitals", map[string]any{"timeout": p.ms()}, &answer)
	answer.Value.HeapUsed = int64(answer.HeapUsed)
	return answer.Value, err
}

// Outline reads what there is to do on the page, and what went wrong in it, into a
// value with the fields of automation/page/outline.ts's Outline: at most most things
// that can be clicked.
func (p Page) Outline(ctx context.Context, most int, into any) error {
	return p.readOutline(ctx, "frame.outline", map[string]any{"timeout": p.ms(), "most": most}, into)
}

// Summary does the same with a page's links, at most most, and what it says about
// itself.
func (p Page) Summary(ctx context.Context, most int, into any) error {
	return p.readOutline(ctx, "frame.summary", map[string]any{"timeout": p.ms(), "most": most}, into)
}

// SourceMap returns the source map that a script of the page names, and its address.
// The text is empty without one, or if it has more than most characters. The page
// fetches it, under its own rules.
func (p Page) SourceMap(ctx context.Context, script string, most int) (address, text string, err error) {
	var found struct{ URL, Text string }
	err = p.readOutline(ctx, "frame.sourceMap", map[string]any{"timeout": p.ms(), "url": script, "most": most}, &found)
	return found.URL, found.Text, err
}

func (p Page) readOutline(ctx context.Context, operation string, params map[string]any, into any) error {
	var answer struct{ Value json.RawMessage }
	if err := p.onFrame(ctx, operation, params, &answer); err != nil {
		return err
	}
	return json.Unmarshal(answer.Value, into)
}

// ScreenshotOptions say what to take a picture of. The zero value of each field
// is its default.
type ScreenshotOptions struct {
	Target    string // an element; default the viewport
	FullPage  bool   // the whole document
	Format    string // png (default), jpeg or webp
	Quality   int    // 1 to 100, not for png; default 80
	CSSPixels bool   // one pixel of the picture for each CSS pixel, also on dense screens
	Clip      *Clip  // a part, without Target and FullPage; default all of it

	OmitBackground bool // transparent where the page has no background; not for jpeg
}

// Clip is a part of a page in CSS pixels.
type Clip struct {
	X, Y, Width, Height float64
	InDocument          bool // counts from the document's corner, in view or not; default: from the viewport's, and only what is in view
}

// Screenshot takes a picture of the page, or of an element.
func (p Page) Screenshot(ctx context.Context, o ScreenshotOptions) ([]byte, error) {
	params := map[string]any{"type": o.Format, "timeout": p.ms()}
	if o.Quality > 0 {
		params["quality"] = o.Quality
	}
	if o.CSSPixels {
		params["scale"] = "css"
	}
	if o.OmitBackground {
		params["omitBackground"] = true
	}
	var answer pictureAnswer
	var err error
	if o.Target == "" {
		params["fullPage"] = o.FullPage
		if c := o.Clip; c != nil {
			params["clip"], params["clipInDocument"] = map[string]float64{"x": c.X, "y": c.Y, "width": c.Width, "height": c.Height}, c.InDocument
		}
		err = p.onPage(ctx, "page.screenshot", params, &answer)
	} else {
		err = p.onTarget(ctx, "screenshot", o.Target, params, &answer)
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(answer.Data)
}

// pictureAnswer is the answer of a screenshot or a PDF: base64.
type pictureAnswer struct{ Data string }

// SnapshotOptions say what a snapshot contains. The zero value of each field is
// its default.
type SnapshotOptions struct {
	Target string // an element; default the whole page
	Depth  int    // levels of elements; default all
	Boxes  bool   // the position and size of each element
}

// Snapshot describes the page as YAML, as accessibility tools see it, with a
// reference for each element that can be a target. It does not have what fields for
// passwords, codes and cards hold, whoever put it there.
func (p Page) Snapshot(ctx context.Context, o SnapshotOptions) (string, error) {
	if o.Target == "" {
		o.Target = "body"
	}
	var answer struct{ Value string }
	err := p.onTarget(ctx, "ariaSnapshot", o.Target, map[string]any{"mode": "ai", "depth": o.Depth, "boxes": o.Boxes, "hide": true}, &answer)
	return answer.Value, err
}

// fields returns the fields of a struct as parameters.
func fields(options any) (map[string]any, error) {
	raw, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	params := map[string]any{}
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	return params, nil
}
