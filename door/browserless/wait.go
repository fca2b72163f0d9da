package browserless

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"takeover/door/page"
	"takeover/invalid"
)

// WaitForFunction says for which function to wait.
type WaitForFunction struct {
	Fn      string          `json:"fn" doc:"A function, which is called until its value is true; one that is async is called once. Or an expression." required:"true"`
	Polling json.RawMessage `json:"polling,omitempty" doc:"Milliseconds between two calls, or raf for each frame, which mutation means too. Default: raf."`
	Timeout float64         `json:"timeout,omitempty" doc:"Milliseconds." min:"0" max:"60000" default:"30000"`
}

// WaitForSelector says for which element to wait.
type WaitForSelector struct {
	Selector string  `json:"selector" doc:"A selector." required:"true"`
	Visible  bool    `json:"visible,omitempty" doc:"Waits until the element is visible."`
	Hidden   bool    `json:"hidden,omitempty" doc:"Waits until no such element is visible."`
	Timeout  float64 `json:"timeout,omitempty" doc:"Milliseconds." min:"0" max:"60000" default:"30000"`
}

// WaitForEvent says for which event to wait.
type WaitForEvent struct {
	Event   string  `json:"event" doc:"The name of a DOM event that reaches the document or the window." required:"true" maxBytes:"256"`
	Timeout float64 `json:"timeout,omitempty" doc:"Milliseconds." min:"0" max:"60000" default:"30000"`
}

// StyleTag is a style sheet that is added to the page.
type StyleTag struct {
	URL     string `json:"url,omitempty" doc:"The address of the sheet. Either url or content is required."`
	Content string `json:"content,omitempty" doc:"The sheet itself."`
}

// ScriptTag is a script that is added to the page.
type ScriptTag struct {
	URL     string `json:"url,omitempty" doc:"The address of the script. Either url or content is required."`
	Content string `json:"content,omitempty" doc:"The script itself."`
	Type    string `json:"type,omitempty" doc:"The script's type, such as module."`
	ID      string `json:"id,omitempty" doc:"The id of its element."`
}

// maxTags bounds addScriptTag, and likewise addStyleTag.
const maxTags = 50

// maxPolling bounds the time between two calls of a function, in milliseconds.
const maxPolling = 60_000

// checkTags checks addScriptTag and addStyleTag.
func (r *PageRequest) checkTags() error {
	if len(r.AddScriptTag) > maxTags {
		return invalid.Field("addScriptTag", "must have at most %d entries", maxTags)
	}
	if len(r.AddStyleTag) > maxTags {
		return invalid.Field("addStyleTag", "must have at most %d entries", maxTags)
	}
	for i, tag := range r.AddScriptTag {
		if (tag.URL == "") == (tag.Content == "") {
			return invalid.Field(fmt.Sprintf("addScriptTag[%d]", i), "give either url or content")
		}
	}
	for i, tag := range r.AddStyleTag {
		if (tag.URL == "") == (tag.Content == "") {
			return invalid.Field(fmt.Sprintf("addStyleTag[%d]", i), "give either url or content")
		}
	}
	return nil
}

// checkWaits checks what the request waits for.
func (r *PageRequest) checkWaits() error {
	if w := r.WaitForSelector; w != nil && w.Selector == "" {
		return invalid.Field("waitForSelector.selector", "is required")
	}
	if w := r.WaitForEvent; w != nil && w.Event == "" {
		return invalid.Field("waitForEvent.event", "is required")
	}
	w := r.WaitForFunction
	if w == nil {
		return nil
	}
	if w.Fn == "" {
		return invalid.Field("waitForFunction.fn", "is required")
	}
	_, err := w.polling()
	return err
}

// NoJavaScript reports whether the page runs no scripts.
func (r *PageRequest) NoJavaScript() bool {
	return r.SetJavaScriptEnabled != nil && !*r.SetJavaScriptEnabled
}

// checkScripts refuses what needs scripts in a page that runs none.
func (r *PageRequest) checkScripts() error {
	if !r.NoJavaScript() {
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"addScriptTag", len(r.AddScriptTag) > 0}, {"addStyleTag", len(r.AddStyleTag) > 0},
		{"waitForFunction", r.WaitForFunction != nil}, {"waitForEvent", r.WaitForEvent != nil},
	} {
		if f.given {
			return invalid.Field(f.name, "needs a page that runs scripts: setJavaScriptEnabled is false")
		}
	}
	return nil
}

// polling returns the time between two calls of the function; 0 stands for each frame. The
// error is an *invalid.Error.
func (w *WaitForFunction) polling() (time.Duration, error) {
	if len(w.Polling) == 0 {
		return 0, nil
	}
	var word string
	if json.Unmarshal(w.Polling, &word) == nil && (word == "raf" || word == "mutation") {
		return 0, nil
	}
	var ms float64
	if json.Unmarshal(w.Polling, &ms) != nil || ms <= 0 || ms > maxPolling {
		return 0, invalid.Field("waitForFunction.polling", "must be raf, mutation, or milliseconds above 0 and up to %d", maxPolling)
	}
	return duration(ms), nil
}

// asyncFunction matches the beginning of a function that returns a promise.
var asyncFunction = regexp.MustCompile(`^\s*async\s*(?:function\b|\(|[\pL_$][\pL\d_$]*\s*=>)`)

// addTags adds style sheets and scripts to the page.
func (r *PageRequest) addTags(ctx context.Context, p page.Page) error {
	for i, tag := range r.AddStyleTag {
		if err := p.AddStyleTag(ctx, page.StyleTag(tag)); err != nil {
			return fmt.Errorf("addStyleTag[%d]: %w", i, err)
		}
	}
	for i, tag := range r.AddScriptTag {
		if err := p.AddScriptTag(ctx, page.ScriptTag(tag)); err != nil {
			return fmt.Errorf("addScriptTag[%d]: %w", i, err)
		}
	}
	return nil
}

// wait waits for what the request names, in Browserless' order.
func (r *PageRequest) wait(ctx context.Context, p page.Page) error {
	select {
	case <-time.After(duration(r.WaitForTimeout)):
	case <-p.Program.Session().Ended(): // the next step says so
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if w := r.WaitForFunction; w != nil {
		if err := r.try(ctx, w.wait(ctx, p)); err != nil {
			return fmt.Errorf("waitForFunction: %w", err)
		}
	}
	if w := r.WaitForSelector; w != nil {
		if err := r.try(ctx, w.wait(ctx, p)); err != nil {
			return fmt.Errorf("waitForSelector: %w", err)
		}
	}
	if w := r.WaitForEvent; w != nil {
		p.Timeout = duration(w.Timeout)
		if err := r.try(ctx, p.WaitForDOMEvent(ctx, w.Event)); err != nil {
			return fmt.Errorf("waitForEvent: %w", err)
		}
	}
	return nil
}

func (w *WaitForFunction) wait(ctx context.Context, p page.Page) error {
	p.Timeout = duration(w.Timeout)
	if asyncFunction.MatchString(w.Fn) {
		return p.Run(ctx, w.Fn)
	}
	polling, err := w.polling()
	if err != nil {
		return err
	}
	return p.WaitForFunction(ctx, w.Fn, polling)
}

func (w *WaitForSelector) wait(ctx context.Context, p page.Page) error {
	p.Timeout = duration(w.Timeout)
	state := "attached"
	switch {
	case w.Visible:
		state = "visible"
	case w.Hidden:
		state = "hidden"
	}
	return p.WaitFor(ctx, w.Selector, state)
}
