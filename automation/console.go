package automation

import (
	"context"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// consoleOperations are the operations of this file.
var consoleOperations = table{
	// {page,filter: "all"|"since-navigation"} → {messages:[like console events]},
	// {errors:[like pageerror events]}
	"page.consoleMessages":      op(false, opConsoleMessages),
	"page.pageErrors":           op(false, opPageErrors),
	"page.clearConsoleMessages": op(false, opClearConsole),
	"page.clearPageErrors":      op(false, opClearErrors),
}

// keptMessages bounds the remembered console messages of a page, and separately
// its errors. Playwright uses the same number.
const keptMessages = 200

// keptMessageBytes bounds the remembered messages of a page, and separately its
// errors, in bytes. The newest one is always kept.
const keptMessageBytes = 8 << 20

// journal holds the console messages and errors of a page for a client.
type journal struct {
	messages   []*consoleMessage
	errors     []*pageError
	size       int // bytes of the messages
	errorSize  int // bytes of the errors
	navigation int // counts documents of the page
}

type consoleMessage struct {
	event      browser.ConsoleCalled
	navigation int
	told       *consoleInit // as it was sent to the client, or nil
}

// consoleInit describes a console message to a client.
type consoleInit struct {
	Page      string         `json:"page"` // empty for a service worker
	Worker    string         `json:"worker,omitempty"`
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Location  location       `json:"location"`
	Timestamp float64        `json:"timestamp"` // milliseconds since the epoch
	Args      []handleResult `json:"args"`
}

type location struct {
	URL    string `json:"url"`
	Line   int64  `json:"line"` // starts at 0, like Column
	Column int64  `json:"column"`
}

type pageError struct {
	navigation int
	init       pageErrorInit
}

// pageErrorInit describes an uncaught exception to a client.
type pageErrorInit struct {
	Page     string   `json:"page"`
	Name     string   `json:"name"`
	Message  string   `json:"message"`
	Stack    string   `json:"stack"`
	Location location `json:"location"`
}

func (i pageErrorInit) size() int { return len(i.Message) + len(i.Stack) }

func locationOf(p browser.SourceLocation) location { return location{p.URL, p.Line, p.Column} }

// addMessage remembers a message and returns those to drop.
func (j *journal) addMessage(m *consoleMessage) (dropped []*consoleMessage) {
	m.navigation = j.navigation
	j.messages = append(j.messages, m)
	j.size += m.size()
	for len(j.messages) > 1 && (len(j.messages) > keptMessages || j.size > keptMessageBytes) {
		old := j.messages[0]
		j.messages[0] = nil
		dropped, j.messages = append(dropped, old), j.messages[1:]
		j.size -= old.size()
	}
	return dropped
}

// addError remembers an error.
func (j *journal) addError(init pageErrorInit) {
	j.errors = append(j.errors, &pageError{j.navigation, init})
	j.errorSize += init.size()
	for len(j.errors) > 1 && (len(j.errors) > keptMessages || j.errorSize > keptMessageBytes) {
		j.errorSize -= j.errors[0].init.size()
		j.errors[0] = nil
		j.errors = j.errors[1:]
	}
}

// onConsole remembers a message and reports it to a listening client. It runs on
// the model's goroutine.
func (c *Client) onConsole(ev browser.ConsoleCalled) {
	m := &consoleMessage{event: ev}
	var dropped []*consoleMessage
	c.events.journal(ev.Page, func(j *journal) { dropped = j.addMessage(m) })
	for _, old := range dropped {
		old.release()
	}
	if c.hears(ev.Page, eventConsole) {
		c.emit("console", c.tellMessage(m))
	}
}

// size returns the approximate size of a message in bytes.
func (m *consoleMessage) size() int {
	n := len(m.event.Text)
	for _, o := range m.event.Args {
		n += len(o.Value) + len(o.Description)
	}
	return n
}

// release releases the objects that have no handle.
func (m *consoleMessage) release() {
	if m.told != nil {
		return
	}
	for _, o := range m.event.Args {
		release(m.event.World, o.ObjectID)
	}
}

// tellMessage describes a message to the client. The client owns the message's
// objects from then on.
func (c *Client) tellMessage(m *consoleMessage) *consoleInit {
	if m.told != nil {
		return m.told
	}
	ev := m.event
	init := &consoleInit{
		Type: ev.Type, Text: ev.Text, Location: locationOf(ev.Location),
		Timestamp: float64(ev.At.UnixMicro()) / 1000, Args: []handleResult{},
	}
	if ev.Worker != nil {
		init.Worker = c.idOf("worker", ev.Worker)
	}
	if ev.Worker == nil || ev.Worker.Page() != nil {
		init.Page = c.idOf("page", ev.Page)
	}
	var texts []string
	for _, o := range ev.Args {
		h, err := c.keep(ev.World, o)
		if err != nil {
			break // the client is closing
		}
		init.Args = append(init.Args, h.result())
		texts = append(texts, h.preview)
	}
	if ev.World != nil {
		init.Text = strings.Join(texts, " ")
	}
	m.told = init
	return init
}

// onException remembers an error and reports it to a listening client.
func (c *Client) onException(ev browser.ExceptionThrown) {
	init := pageErrorInit{Page: c.idOf("page", ev.Page), Name: ev.Err.Name, Message: ev.Err.Message, Stack: ownFrames(ev.Err.Stack), Location: locationOf(ev.Location)}
	if !strings.Contains(init.Stack, "\n    at ") {
		init.Stack = "" // the stack only repeats the message
	}
	c.events.journal(ev.Page, func(j *journal) { j.addError(init) })
	if c.hears(ev.Page, eventPageError) {
		c.emit("pageerror", init)
	}
}

type journalParams struct {
	Page   string `json:"page"`
	Filter string `json:"filter"` // all or since-navigation
}

func (p *journalParams) since(j *journal) (int, error) {
	switch p.Filter {
	case "", "since-navigation":
		return j.navigation, nil
	case "all":
		return 0, nil
	}
	return 0, errorf("filter: expected one of (all|since-navigation)")
}

// opConsoleMessages returns the remembered messages.
func opConsoleMessages(ctx context.Context, c *Client, p *journalParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	told := []*consoleInit{}
	var failed error
	err = c.automation.browser.Do(ctx, func() { // no message arrives or is reported during this call
		var since int
		var messages []*consoleMessage
		c.events.journal(page, func(j *journal) {
			since, failed = p.since(j)
			messages = j.messages
		})
		for _, m := range messages {
			if failed == nil && m.navigation >= since {
				told = append(told, c.tellMessage(m))
			}
		}
	})
	if err == nil {
		err = failed
	}
	return map[string]any{"messages": told}, err
}

// opPageErrors returns the remembered errors.
func opPageErrors(_ context.Context, c *Client, p *journalParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	told := []pageErrorInit{}
	c.events.journal(page, func(j *journal) {
		var since int
		since, err = p.since(j)
		for _, e := range j.errors {
			if e.navigation >= since {
				told = append(told, e.init)
			}
		}
	})
	return map[string]any{"errors": told}, err
}

func opClearConsole(ctx context.Context, c *Client, p *pageParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	return emptyJSON, c.automation.browser.Do(ctx, func() {
		var messages []*consoleMessage
		c.events.journal(page, func(j *journal) {
			messages = j.messages
			j.messages, j.size = nil, 0
		})
		for _, m := range messages {
			m.release()
		}
	})
}

func opClearErrors(_ context.Context, c *Client, p *pageParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	c.events.journal(page, func(j *journal) { j.errors, j.errorSize = nil, 0 })
	return emptyJSON, nil
}

// previewText returns a value as JSHandle.toString shows it, with Chromium's
// preview if there is one.
func previewText(o *runtime.RemoteObject) string {
	switch {
	case o.ObjectID == "":
		return primitiveText(o)
	case o.Subtype == runtime.RemoteObjectSubtypeNode:
		return "JSHandle@node"
	case o.Preview != nil && o.Subtype == runtime.RemoteObjectSubtypeArray:
		return arrayText(o.Preview.Properties)
	case o.Preview != nil && o.Description == "Object":
		parts := make([]string, len(o.Preview.Properties))
		for i, p := range o.Preview.Properties {
			parts[i] = p.Name + ": " + p.Value
			if p.Type == runtime.PropertyPreviewTypeAccessor {
				parts[i] += "undefined"
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return o.Description
}

// arrayText lists an array's elements. Holes are counted, and holes at the end
// are omitted.
func arrayText(properties []*runtime.PropertyPreview) string {
	parts := []string{}
	next := 0
	for _, p := range properties {
		index, err := strconv.Atoi(p.Name)
		if err != nil {
			continue
		}
		switch holes := index - next; {
		case holes == 1:
			parts = append(parts, "empty")
		case holes > 1:
			parts = append(parts, "empty x "+strconv.Itoa(holes))
		}
		parts = append(parts, p.Value)
		next = index + 1
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
