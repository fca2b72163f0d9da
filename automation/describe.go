package automation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"takeover/browser"
)

// Hidden takes the place of content in the description of an operation.
const Hidden = "[REDACTED]"

// described lists the reading operations that a program calls for their own sake;
// all that write are described, too. Names without a dot are those of operations on
// targets.
var described = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{
		"allInnerTexts", "allTextContents", "ariaSnapshot", "ariaSnapshotJSON", "boundingBox", "content", "count", "expect", "getAttribute", "innerHTML",
		"innerText", "inputValue", "isChecked", "isDisabled", "isEditable", "isEnabled", "isHidden", "isVisible", "jsonValue", "querySelector",
		"querySelectorAll", "textContent", "title", "waitForElementState", "waitForLoadState", "waitForSelector",
		"api.addCookies", "api.clearCookies", "api.fetch", "context.cookies", "context.storageState", "download.cancel", "download.saveAs",
		"files.read", "files.write", "page.pdf", "page.screenshot",
	} {
		names[name] = true
	}
	return names
}()

// enters lists the operations that enter content into an element. It is shown
// unless the element is secret.
var enters = []string{"fill", "press", "selectOption", "type"}

// tells lists the operations whose result is what an element holds. It is shown unless
// the element is secret.
var tells = []string{"expect", "getAttribute", "inputValue"}

// opaque lists the operations whose results are contents of files and of answers, or of
// the protocol, in a form that no redaction sees through.
var opaque = []string{"api.fetch", "cdp.send", "files.read", "page.pdf", "page.screenshot", "screenshot"}

// code lists the parameters that are code. It may contain secrets that nobody knows yet,
// so only its size and hash are shown.
var code = []string{"code", "expression", "function", "script", "source"}

// wholly lists the operations whose parameters and results are not shown at all.
var wholly = []string{"api.addCookies", "api.cookies", "context.addCookies", "context.cookies", "context.setHTTPCredentials", "context.setStorageState", "context.storageState"}

// Description tells what an operation does, without what is secret about it.
type Description struct {
	Tool   string         // the operation's name, without its kind of target
	Args   map[string]any // its parameters, without names of pages, frames and handles
	Writes bool           // it may change the page
	Hidden bool           // its result must not be shown
	Shown  bool           // its parameters have content, and it is shown
	Secret bool           // its parameters have content for an element that is certainly secret
}

// Describe describes an operation of the client. ok is false for operations that
// keep house, such as freeing a handle. It may ask the page whether the element to
// type into is secret, and hides the content if that is not certain.
func (c *Client) Describe(ctx context.Context, name string, params json.RawMessage) (d Description, ok bool) {
	o, known := c.automation.operations[name]
	kind, verb, _ := strings.Cut(name, ".")
	d = Description{Tool: name, Args: map[string]any{}, Writes: o.waits(params), Hidden: slices.Contains(wholly, name)}
	if kind == "frame" || kind == "handle" {
		d.Tool = verb
	}
	if !known || !o.writes && !described[d.Tool] {
		return Description{}, false
	}
	if d.Hidden {
		return d, true
	}
	var args map[string]any
	_ = json.Unmarshal(params, &args) // the operation itself refuses bad parameters
	for _, internal := range []string{"page", "frame", "handle", "handles", "context", "tracedAs", "strict"} {
		delete(args, internal)
	}
	if slices.Contains(enters, d.Tool) {
		secret, certain := c.onSecret(ctx, kind, params)
		d.Shown = !secret
		d.Secret = secret && certain && (d.Tool == "fill" || d.Tool == "type")
	}
	d.Hidden = slices.Contains(opaque, d.Tool)
	if slices.Contains(tells, d.Tool) {
		d.Hidden, _ = c.onSecret(ctx, kind, params)
	}
	d.Args, _ = WithoutContent(args, func(string) bool { return d.Shown }).(map[string]any)
	return d, true
}

// lookTimeout bounds a question about the element of an operation.
const lookTimeout = time.Second

// onSecret reports whether the element of an operation is secret. It is taken for one
// if that is not certain.
func (c *Client) onSecret(ctx context.Context, kind string, params json.RawMessage) (secret, certain bool) {
	var answer struct{ Value *bool }
	if c.ask(ctx, kind+".isSecret", params, &answer) != nil || answer.Value == nil {
		return true, false
	}
	return *answer.Value, true
}

// BoxOf returns where the element of an operation is now, in the viewport of its page, or
// nil if it has none or is not found within a second.
func (c *Client) BoxOf(ctx context.Context, name string, params json.RawMessage) *Rect {
	kind, _, _ := strings.Cut(name, ".")
	var to target
	if json.Unmarshal(params, &to) != nil || to.Selector == "" && kind != "handle" {
		return nil
	}
	var answer struct{ Value *Rect }
	if c.ask(ctx, kind+".boundingBox", params, &answer) != nil {
		return nil
	}
	return answer.Value
}

// ask asks a question about the element of another operation.
func (c *Client) ask(ctx context.Context, question string, params json.RawMessage, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var to map[string]any
	if err := json.Unmarshal(params, &to); err != nil {
		return err
	}
	for field := range to {
		if field != "frame" && field != "handle" && field != "selector" {
			delete(to, field)
		}
	}
	raw, err := json.Marshal(to)
	if err != nil {
		return err
	}
	got, err := c.Do(ctx, Call{Name: question, Params: raw})
	if err != nil {
		return err
	}
	return json.Unmarshal(got, answer)
}

// WithoutContent returns a decoded value without the texts that are content, except
// for those that are shown.
func WithoutContent(value any, shown func(text string) bool) any {
	return hide(value, false, shown)
}

// hide returns a decoded value without its texts and numbers if it is content, or
// without those of its parts that are.
func hide(value any, content bool, shown func(text string) bool) any {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		out := make([]any, len(value))
		for i, one := range value {
			out[i] = hide(one, content, shown)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, one := range value {
			key, _ := one.(string)
			if key != "" && slices.Contains(code, name) {
				out[name] = digest(key)
				continue
			}
			named := name == "key" && utf8.RuneCountInString(key) > 1 // such as Enter
			out[name] = hide(one, (content || carriesContent[name]) && !named, shown)
		}
		return out
	}
	if text, _ := value.(string); content && !shown(text) {
		return Hidden
	}
	return value
}

// digest describes a text without showing it.
func digest(text string) map[string]any {
	sum := sha256.Sum256([]byte(text))
	return map[string]any{"bytes": len(text), "sha256": hex.EncodeToString(sum[:])}
}

// PageOf returns the page that an operation with these parameters acts on, or nil.
func (c *Client) PageOf(params json.RawMessage) *browser.Page {
	var call traced
	if json.Unmarshal(params, &call) != nil {
		return nil
	}
	return c.pageOf(call)
}
