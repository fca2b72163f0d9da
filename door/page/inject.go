package page

import (
	"context"
	"strings"
	"time"
)

// ScriptTag is a script that a page is to run. Either URL or Content is required.
type ScriptTag struct {
	URL     string `json:"url,omitempty"` // the page loads it
	Content string `json:"content,omitempty"`
	Type    string `json:"type,omitempty"` // such as module
	ID      string `json:"id,omitempty"`   // of the element
}

// StyleTag is a style sheet that a page is to have. Either URL or Content is required.
type StyleTag struct {
	URL     string `json:"url,omitempty"` // the page loads it
	Content string `json:"content,omitempty"`
}

// AddScriptTag adds a script to the page, and waits until one with an address has run.
func (p Page) AddScriptTag(ctx context.Context, tag ScriptTag) error {
	return p.addTag(ctx, "frame.addScriptTag", tag)
}

// AddStyleTag adds a style sheet to the page, and waits until it applies.
func (p Page) AddStyleTag(ctx context.Context, tag StyleTag) error {
	return p.addTag(ctx, "frame.addStyleTag", tag)
}

func (p Page) addTag(ctx context.Context, operation string, tag any) error {
	params, err := fields(tag)
	if err != nil {
		return err
	}
	return p.inTime().onFrame(ctx, operation, params, nil)
}

// EmulateMedia makes the page's style sheets apply as on a screen or in print: media is
// screen or print.
func (p Page) EmulateMedia(ctx context.Context, media string) error {
	return p.onPage(ctx, "page.emulateMedia", map[string]any{"media": media}, nil)
}

// WaitForFunction calls a function in the page, or evaluates an expression, again and
// again until its value is true. polling is the time between two calls; 0 stands for each
// frame that the page draws. The page finds out which of both it is: no pattern knows all
// functions.
func (p Page) WaitForFunction(ctx context.Context, code string, polling time.Duration) error {
	code = "(made => typeof made === 'function' ? made() : made)((" + strings.TrimRight(code, "; \t\r\n") + "\n))"
	params := map[string]any{"expression": code, "isFunction": false, "timeout": p.ms()}
	if polling > 0 {
		params["polling"] = float64(polling) / float64(time.Millisecond)
	}
	return p.onFrame(ctx, "frame.waitForFunction", params, nil)
}

// Run calls a function in the page once, and waits until it, or the promise that it
// returns, has ended.
func (p Page) Run(ctx context.Context, function string) error {
	_, err := p.inTime().Evaluate(ctx, "", "async () => { await ("+function+"\n)() }", true, nil) // not every value can be returned
	return err
}

// WaitForDOMEvent waits for an event that reaches the page's document or its window.
func (p Page) WaitForDOMEvent(ctx context.Context, event string) error {
	return p.onFrame(ctx, "frame.waitForDOMEvent", map[string]any{"event": event, "timeout": p.ms()}, nil)
}

// inTime bounds operations that have no timeout of their own. A wait for the right to act
// does not count.
func (p Page) inTime() Page {
	p.within = time.Duration(p.ms() * float64(time.Millisecond))
	return p
}
