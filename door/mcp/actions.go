package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"takeover/door/page"
)

// element is the argument of tools that act on one element.
type element struct {
	Target  string  `json:"target" jsonschema:"ref such as e12, or a selector"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"ms; default 30000"`
}

// in returns a tab in which operations wait as long for the element as the caller says.
func (e element) in(t tab) page.Page { return t.within(e.Timeout).Page }

// selector returns the element's selector.
func (e element) selector() string { return selectorOf(e.Target) }

func (e element) check() error {
	if strings.TrimSpace(e.Target) == "" {
		return errors.New("target: is required: a ref of browser_snapshot, or a selector")
	}
	return nil
}

type clickArgs struct {
	where
	element
	Button    string   `json:"button,omitempty" jsonschema:"left (default), right or middle"`
	Double    bool     `json:"doubleClick,omitempty"`
	Modifiers []string `json:"modifiers,omitempty" jsonschema:"keys held meanwhile: Alt, Control, Meta, Shift"`
	view
}

type typeArgs struct {
	where
	element
	Text   string `json:"text" jsonschema:"replaces what is in the field"`
	Submit bool   `json:"submit,omitempty" jsonschema:"press Enter afterwards"`
	Slowly bool   `json:"slowly,omitempty" jsonschema:"press the keys one by one, behind what is in the field"`
	view
}

type field struct {
	Target string `json:"target" jsonschema:"ref or selector"`
	Value  string `json:"value" jsonschema:"the text; for a checkbox or radio button true or false; for a select the option's label or value"`
}

type fillArgs struct {
	where
	Fields []field `json:"fields"`
	Submit bool    `json:"submit,omitempty" jsonschema:"press Enter in the last field afterwards"`
	view
}

type selectArgs struct {
	where
	element
	Values []string `json:"values" jsonschema:"values or labels of the options"`
	view
}

type keyArgs struct {
	where
	Key    string `json:"key" jsonschema:"such as Enter, Escape, ArrowDown, a, Control+A"`
	Target string `json:"target,omitempty" jsonschema:"element to focus first; default: what has the focus"`
	view
}

type waitArgs struct {
	where
	Text     string  `json:"text,omitempty" jsonschema:"text that appears"`
	TextGone string  `json:"textGone,omitempty" jsonschema:"text that disappears"`
	Target   string  `json:"target,omitempty" jsonschema:"element that appears"`
	URL      string  `json:"url,omitempty" jsonschema:"part of the page's address, or a glob such as **/done"`
	Settled  bool    `json:"settled,omitempty" jsonschema:"the page has come to rest"`
	Time     float64 `json:"time,omitempty" jsonschema:"seconds that pass, at most 60"`
	Timeout  float64 `json:"timeout,omitempty" jsonschema:"ms; default 30000"`
	view
}

type dialogArgs struct {
	where
	Accept bool   `json:"accept" jsonschema:"true for OK, false for Cancel"`
	Text   string `json:"text,omitempty" jsonschema:"answer to a prompt"`
	view
}

type tabsArgs struct {
	where
	Action string `json:"action,omitempty" jsonschema:"list (default), new, select or close"`
	Tab    uint32 `json:"tab,omitempty" jsonschema:"number of the tab for select and close; default: the one that is shown"`
	Index  *int   `json:"index,omitempty" jsonschema:"its position in the list from 0, in place of its number"`
	URL    string `json:"url,omitempty" jsonschema:"address for a new tab"`
	view
}

// actionTools are the usual actions.
var actionTools = []tool{
	row("browser_click", setCore, "Click", acts,
		"Click an element. Answers with what changed on the page.",
		`{"target": "e12"} or {"target": "text=Sign in", "snapshot": true}`, (*call).click),
	row("browser_type", setCore, "Type into a field", acts,
		"Fill a field with a text, and submit it if you like.",
		`{"target": "e7", "text": "me@example.com", "submit": true}`, (*call).typeText),
	row("browser_fill_form", setCore, "Fill a form", acts,
		"Fill several fields at once: texts, checkboxes, radio buttons, selects.",
		`{"fields": [{"target": "e7", "value": "me@example.com"}, {"target": "e9", "value": "true"}]}`, (*call).fillForm),
	row("browser_select_option", setCore, "Choose an option", acts,
		"Choose one or several options of a select.", `{"target": "e14", "values": ["Germany"]}`, (*call).selectOption),
	row("browser_press_key", setCore, "Press a key", acts,
		"Press a key or a combination.", `{"key": "Enter"}`, (*call).pressKey),
	row("browser_wait_for", setCore, "Wait", reads,
		"Wait until something appears, disappears or is at rest. Actions wait for their element themselves.",
		`{"text": "Welcome"} or {"url": "**/orders"}`, (*call).waitFor),
	row("browser_handle_dialog", setCore, "Answer a dialog", acts,
		"Answer an alert, a confirm, a prompt or a question before leaving the page.", `{"accept": true}`, (*call).answerDialog),
	row("browser_tabs", setCore, "Tabs", acts,
		"List, open, select or close tabs. Other tools work in the tab that is shown.", `{"action": "select", "tab": 2}`, (*call).handleTabs),
}

func (c *call) click(in clickArgs) (*answer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		o := page.ClickOptions{Button: in.Button, Modifiers: in.Modifiers}
		if in.Double {
			o.Count = 2
		}
		return in.in(t).Click(ctx, in.selector(), o)
	})
}

func (c *call) typeText(in typeArgs) (*answer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		var err error
		if in.Slowly {
			err = in.in(t).Type(ctx, in.selector(), in.Text, 0)
		} else {
			err = in.in(t).Fill(ctx, in.selector(), in.Text)
		}
		if err == nil && in.Submit {
			err = in.in(t).Press(ctx, in.selector(), "Enter")
		}
		return err
	})
}

func (c *call) fillForm(in fillArgs) (*answer, error) {
	if len(in.Fields) == 0 {
		return nil, errors.New("fields: is required")
	}
	for i, f := range in.Fields {
		if f.Target == "" {
			return nil, fmt.Errorf("fields[%d].target: is required", i)
		}
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		for i, f := range in.Fields {
			if err := fill(ctx, t, f); err != nil {
				return fmt.Errorf("fields[%d]: %w", i, err)
			}
		}
		if in.Submit {
			return t.Press(ctx, selectorOf(in.Fields[len(in.Fields)-1].Target), "Enter")
		}
		return nil
	})
}

// fill fills one field of a form, in the way that fits its kind.
func fill(ctx context.Context, t tab, f field) error {
	target := selectorOf(f.Target)
	const kindOf = `e => { const of = x => x.tagName === 'SELECT' ? 'select' : x.type === 'checkbox' || x.type === 'radio' ||
		['checkbox', 'radio', 'switch'].includes(x.getAttribute('role')) ? 'check' : 'text'; return of(e.tagName === 'LABEL' && e.control || e) }`
	kind, err := t.Evaluate(ctx, target, kindOf, true, nil)
	if err != nil {
		return err
	}
	switch string(kind) {
	case `"select"`:
		_, err := t.Select(ctx, target, f.Value)
		return err
	case `"check"`:
		checked, known := map[string]bool{"true": true, "on": true, "yes": true, "1": true, "false": false, "off": false, "no": false, "0": false, "": false}[strings.ToLower(f.Value)]
		if !known {
			return errors.New("value: must be true or false for a checkbox or radio button")
		}
		return t.Check(ctx, target, checked)
	}
	return t.Fill(ctx, target, f.Value)
}

func (c *call) selectOption(in selectArgs) (*answer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		_, err := in.in(t).Select(ctx, in.selector(), in.Values...)
		return err
	})
}

func (c *call) pressKey(in keyArgs) (*answer, error) {
	if in.Key == "" {
		return nil, errors.New("key: is required")
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.Press(ctx, selectorOf(in.Target), in.Key)
	})
}

func (c *call) answerDialog(in dialogArgs) (*answer, error) {
	s, t, err := c.shownAt(in.where)
	if err != nil {
		return nil, err
	}
	d := s.anyDialog(t)
	if d == nil {
		return nil, errors.New("no dialog is open")
	}
	operation, with := "dialog.dismiss", params{"dialog": d.ID}
	if in.Accept {
		operation = "dialog.accept"
		with["text"] = in.Text
		if in.Text == "" {
			with["text"] = d.Default
		}
	}
	if err := t.run(c.ctx, operation, with, nil); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.dialogs[d.Page] == d { // the answer may have opened the next one
		delete(s.dialogs, d.Page)
	}
	s.mu.Unlock()
	s.leaveDialogs(c.ctx, t)
	s.settle(c)
	return c.show(&answer{}, in.view), nil
}

func (c *call) handleTabs(in tabsArgs) (*answer, error) {
	if in.Action == "" || in.Action == "list" {
		s, err := c.at(in.where)
		if err != nil {
			return nil, err
		}
		return s.listTabs(), nil
	}
	if in.Index != nil {
		s, err := c.at(in.where)
		if err != nil {
			return nil, err
		}
		tabs, _ := s.program.Tabs()
		if *in.Index < 0 || *in.Index >= len(tabs) {
			return nil, fmt.Errorf("index: must be between 0 and %d", len(tabs)-1)
		}
		in.Tab = tabs[*in.Index].Tab
	}
	var do func(ctx context.Context, t tab) error
	switch in.Action {
	case "new", "create":
		do = func(ctx context.Context, t tab) error {
			opened, err := t.client.OpenTab(ctx)
			if err != nil || in.URL == "" {
				return err
			}
			return page.Page{Program: t.Program, Tab: opened.Tab}.Navigate(ctx, in.URL, "domcontentloaded")
		}
	case "select":
		do = func(ctx context.Context, t tab) error { return t.client.Show(ctx, in.Tab) }
	case "close":
		do = func(ctx context.Context, t tab) error { return t.client.CloseTab(ctx, in.Tab) }
	default:
		return nil, errors.New("action: must be list, new, select or close")
	}
	return c.act(in.where, in.view, do)
}

func (s *conversation) listTabs() *answer {
	tabs, shown := s.program.Tabs()
	a := &answer{}
	for _, one := range tabs {
		mark := ""
		if one.Tab == shown {
			mark = " (shown)"
		}
		a.add("- tab %d%s: %s – %s", one.Tab, mark, one.Title, shortURL(one.URL))
	}
	return a
}

type pointArgs struct {
	where
	element
	view
}

type dragArgs struct {
	where
	Target string `json:"target" jsonschema:"ref or selector of what to drag"`
	To     string `json:"to" jsonschema:"ref or selector of where to drop it"`
	view
}

type scrollArgs struct {
	where
	Target    string  `json:"target,omitempty" jsonschema:"element to bring into view, or inside which to scroll if direction is given; default: the page"`
	Direction string  `json:"direction,omitempty" jsonschema:"down (default), up, left or right"`
	Amount    float64 `json:"amount,omitempty" jsonschema:"CSS pixels; default: most of what is in view"`
	view
}

// inputTools are rarer actions.
var inputTools = []tool{
	row("browser_hover", setInput, "Hover", acts,
		"Move the mouse over an element, for menus and tooltips.", `{"target": "e12"}`, (*call).hover),
	row("browser_drag", setInput, "Drag and drop", acts,
		"Drag an element onto another one.", `{"target": "e12", "to": "e20"}`, (*call).drag),
	row("browser_scroll", setInput, "Scroll", acts,
		"Scroll the page, or bring an element into view. browser_snapshot shows the whole page without scrolling.",
		`{"direction": "down"} or {"target": "e80"}`, (*call).scroll),
	row("browser_file_upload", setInput, "Choose files", acts,
		"Choose files in a file field, or in the chooser that a button opens. The files must be files of the session: downloads are.",
		`{"target": "e15", "files": ["report.pdf"]}`, (*call).upload),
	row("browser_navigate_forward", setInput, "Go forward", acts,
		"Go forward again, as with the browser's button.", `{}`, (*call).forward),
	row("browser_reload", setInput, "Reload", acts,
		"Load the page again.", `{}`, (*call).reload),
	row("browser_close", setInput, "Close the page", acts,
		"Close the tab that is shown. session_release ends the whole browser.", `{}`, (*call).closePage),
	row("browser_pdf_save", setInput, "Save as PDF", reads,
		"Print the page to a PDF, which is a file of the session.", `{"filename": "bill.pdf"}`, (*call).savePDF),
}

func (c *call) forward(in backArgs) (*answer, error) {
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error { return t.Forward(ctx) })
}

func (c *call) reload(in backArgs) (*answer, error) {
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error { return t.Reload(ctx) })
}

func (c *call) closePage(in backArgs) (*answer, error) {
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error { return t.client.CloseTab(ctx, t.Tab) })
}

type pdfArgs struct {
	where
	Filename  string `json:"filename,omitempty" jsonschema:"default: page.pdf"`
	Landscape bool   `json:"landscape,omitempty"`
}

func (c *call) savePDF(in pdfArgs) (*answer, error) {
	s, t, err := c.readableAt(in.where)
	if err != nil {
		return nil, err
	}
	raw, err := t.PDF(c.ctx, page.PDFOptions{Landscape: in.Landscape, PrintBackground: true})
	if err != nil {
		return nil, err
	}
	name, err := s.save(cmp.Or(in.Filename, "page.pdf"), raw)
	if err != nil {
		return nil, err
	}
	return say("The session's file %s has the page, %d bytes.", name, len(raw)), nil
}

func (c *call) hover(in pointArgs) (*answer, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return in.in(t).Hover(ctx, in.selector())
	})
}

func (c *call) drag(in dragArgs) (*answer, error) {
	if in.Target == "" || in.To == "" {
		return nil, errors.New("target and to: are required")
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.Drag(ctx, selectorOf(in.Target), selectorOf(in.To))
	})
}

func (c *call) scroll(in scrollArgs) (*answer, error) {
	directions := []string{"", "down", "up", "left", "right"}
	if !slices.Contains(directions, in.Direction) {
		return nil, errors.New("direction: must be down, up, left or right")
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		if in.Target != "" && in.Direction == "" {
			return t.ScrollTo(ctx, selectorOf(in.Target))
		}
		if in.Target != "" {
			if err := t.Hover(ctx, selectorOf(in.Target)); err != nil {
				return err
			}
		}
		amount := in.Amount
		if amount <= 0 {
			amount = 600
		}
		switch in.Direction {
		case "up":
			return t.Wheel(ctx, 0, -amount)
		case "left":
			return t.Wheel(ctx, -amount, 0)
		case "right":
			return t.Wheel(ctx, amount, 0)
		}
		return t.Wheel(ctx, 0, amount)
	})
}
