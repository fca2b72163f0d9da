package actions

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"takeover/invalid"
)

// ParseJSON reads {"type":"browser-instruction","action":{…}}, one action, or
// {"actions":[…]}. The error is an *invalid.Error that names every bad field.
func ParseJSON(raw []byte) ([]Action, error) {
	var given map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&given); err != nil {
		return nil, invalid.Field("body", "must be a JSON object: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, invalid.Field("body", "must be one JSON object")
	}
	c := &check{}
	var list []Action
	switch {
	case given["actions"] != nil:
		f := c.object("", given)
		items := f.list("actions", maxActions)
		if items != nil && len(items) == 0 {
			c.bad("actions", "must have at least one action")
		}
		for i, item := range items {
			list = append(list, c.action(fmt.Sprintf("actions[%d]", i), item, true))
		}
		f.done()
	case given["type"] == "browser-instruction":
		f := c.object("", given)
		f.text("type", 100, false)
		list = append(list, c.action("action", f.take("action"), true))
		f.done()
	default:
		list = append(list, c.action("", given, true))
	}
	return list, c.err()
}

// ParseXML reads elements <browser_action action="…" …/>, one or several, under any
// root or none. The error is an *invalid.Error that names every bad field.
func ParseXML(raw []byte) ([]Action, error) {
	items, err := elements(raw)
	if err != nil {
		return nil, invalid.Field("body", "%s", err.Error())
	}
	c := &check{words: true}
	if len(items) == 0 {
		c.bad("body", "must have at least one browser_action")
	}
	if len(items) > maxActions {
		return nil, invalid.Field("actions", "must have at most %d items", maxActions)
	}
	var list []Action
	for i, item := range items {
		list = append(list, c.action(fmt.Sprintf("actions[%d]", i), item, true))
	}
	return list, c.err()
}

// elements reads the actions of an XML text, as objects whose values are texts.
func elements(raw []byte) ([]map[string]any, error) {
	d := xml.NewDecoder(bytes.NewReader(raw))
	var found []map[string]any
	rooted := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("is not XML: %w", err)
		}
		switch token := token.(type) {
		case xml.Directive:
			return nil, errors.New("must not have a document type")
		case xml.CharData:
			if err := onlySpace(token); err != nil {
				return nil, err
			}
		case xml.StartElement:
			if token.Name.Local == "browser_action" {
				item, err := element(d, token, 1)
				if err != nil {
					return nil, err
				}
				found = append(found, item)
				if len(found) > maxActions {
					return nil, fmt.Errorf("must have at most %d actions", maxActions)
				}
				continue
			}
			if rooted {
				return nil, fmt.Errorf("<%.40s> is not an action", token.Name.Local)
			}
			rooted = true
		}
	}
}

func onlySpace(text []byte) error {
	if len(bytes.TrimSpace(text)) > 0 {
		return fmt.Errorf("has the text %.40q outside of attributes", bytes.TrimSpace(text))
	}
	return nil
}

// element reads an action: its attributes, and the steps within it.
func element(d *xml.Decoder, start xml.StartElement, depth int) (map[string]any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("has more than %d elements within each other", maxNesting)
	}
	item := map[string]any{}
	for _, a := range start.Attr {
		name := a.Name.Local
		if name == "action" && start.Name.Local == "browser_action" {
			name = "type"
		}
		if _, twice := item[name]; twice || a.Name.Space != "" {
			return nil, fmt.Errorf("<%.40s> has a bad attribute %.40s", start.Name.Local, a.Name.Local)
		}
		item[name] = a.Value
	}
	for {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("is not XML: %w", err)
		}
		switch token := token.(type) {
		case xml.EndElement:
			return item, nil
		case xml.Directive:
			return nil, errors.New("must not have a document type")
		case xml.CharData:
			if start.Name.Local == "expectedLog" {
				said, _ := item[""].(string)
				item[""] = said + string(token)
			} else if err := onlySpace(token); err != nil {
				return nil, err
			}
		case xml.StartElement:
			inner, err := element(d, token, depth+1)
			if err != nil {
				return nil, err
			}
			if err := nest(item, start.Name.Local, token.Name.Local, inner); err != nil {
				return nil, err
			}
		}
	}
}

// nest puts an element into the one around it.
func nest(item map[string]any, around, name string, inner map[string]any) error {
	switch around + " " + name {
	case "browser_action step":
		steps, _ := item["steps"].([]any)
		item["steps"] = append(steps, inner)
	case "step browser_action":
		if item["action"] != nil {
			return errors.New("a step has more than one action")
		}
		item["action"] = inner
	case "step expectedLog":
		logs, _ := item["expectedLogs"].([]any)
		said, _ := inner[""].(string)
		item["expectedLogs"] = append(logs, strings.TrimSpace(said))
	default:
		return fmt.Errorf("<%.40s> does not belong into <%.40s>", name, around)
	}
	return nil
}

// check collects what is wrong with an input.
type check struct {
	words bool // values are texts, as in XML, and options stand beside the other fields
	wrong []invalid.FieldError
}

func (c *check) bad(field, format string, args ...any) {
	c.wrong = append(c.wrong, invalid.FieldError{Field: field, Error: fmt.Sprintf(format, args...)})
}

func (c *check) err() error {
	if len(c.wrong) == 0 {
		return nil
	}
	return &invalid.Error{Fields: c.wrong}
}

// fields are the fields of one object that are not read yet.
type fields struct {
	check *check
	path  string
	left  map[string]any
}

// object returns the fields of a value; none if it is not an object.
func (c *check) object(path string, value any) *fields {
	given, ok := value.(map[string]any)
	if !ok {
		c.bad(orBody(path), "must be an object")
	}
	return &fields{c, path, maps.Clone(given)}
}

func orBody(path string) string {
	if path == "" {
		return "body"
	}
	return path
}

func (f *fields) at(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// take returns the value of a field, or nil.
func (f *fields) take(name string) any {
	value := f.left[name]
	delete(f.left, name)
	return value
}

// done refuses the fields that nobody has read.
func (f *fields) done() {
	for _, name := range slices.Sorted(maps.Keys(f.left)) {
		f.check.bad(f.at(name), "is not known here")
	}
}

// text reads a text.
func (f *fields) text(name string, most int, required bool) string {
	value := f.take(name)
	if value == nil {
		if required {
			f.check.bad(f.at(name), "is required")
		}
		return ""
	}
	text, ok := value.(string)
	switch {
	case !ok:
		f.check.bad(f.at(name), "must be a text")
	case required && strings.TrimSpace(text) == "":
		f.check.bad(f.at(name), "is required")
	case len(text) > most:
		f.check.bad(f.at(name), "must have at most %d bytes", most)
	default:
		return text
	}
	return ""
}

// oneOf reads a text of a list; the first is the default.
func (f *fields) oneOf(name string, choices ...string) string {
	text := f.text(name, 100, false)
	if text == "" {
		return choices[0]
	}
	if !slices.Contains(choices, text) {
		f.check.bad(f.at(name), "must be one of %s", strings.Join(choices, ", "))
		return choices[0]
	}
	return text
}

// yes reads a boolean.
func (f *fields) yes(name string, otherwise bool) bool {
	switch value := f.take(name).(type) {
	case nil:
		return otherwise
	case bool:
		return value
	case string:
		if f.check.words && (value == "true" || value == "false") {
			return value == "true"
		}
	}
	f.check.bad(f.at(name), "must be true or false")
	return otherwise
}

// number reads a number.
func (f *fields) number(name string, least, most, otherwise float64) float64 {
	value := f.take(name)
	if value == nil {
		return otherwise
	}
	said, ok := value.(json.Number)
	if text, isText := value.(string); isText && f.check.words {
		said, ok = json.Number(strings.TrimSpace(text)), true
	}
	n, err := strconv.ParseFloat(said.String(), 64)
	if !ok || err != nil || math.IsNaN(n) {
		f.check.bad(f.at(name), "must be a number")
		return otherwise
	}
	if n < least || n > most {
		f.check.bad(f.at(name), "must be between %v and %v", least, most)
		return otherwise
	}
	return n
}

// list reads a list.
func (f *fields) list(name string, most int) []any {
	value := f.take(name)
	if value == nil {
		return nil
	}
	items, ok := value.([]any)
	switch {
	case !ok:
		f.check.bad(f.at(name), "must be a list")
	case len(items) > most:
		f.check.bad(f.at(name), "must have at most %d items", most)
	default:
		return items
	}
	return nil
}

// options returns the fields of the options of an action, which in XML are
// attributes of the action itself.
func (f *fields) options() (o *fields, done func()) {
	if f.check.words {
		return f, func() {}
	}
	value := f.take("options")
	if value == nil {
		value = map[string]any{}
	}
	o = f.check.object(f.at("options"), value)
	return o, o.done
}

// action reads an action. whole says that start, stop and diagnose are allowed.
func (c *check) action(path string, value any, whole bool) Action {
	f := c.object(path, value)
	if f.left == nil {
		return Action{}
	}
	defer f.done()
	a := Action{Type: f.text("type", 100, true)}
	if a.Type == "" {
		f.left = nil // which fields belong to it is not known
		return a
	}
	if !whole && (a.Type == Start || a.Type == Stop || a.Type == Diagnose) {
		c.bad(f.at("type"), "must not be %s in a step", a.Type)
		f.left = nil
		return a
	}
	if a.Type == Diagnose {
		c.steps(f, &a)
		return a
	}
	o, done := f.options()
	defer done()
	if a.Type != Stop {
		a.Timeout = milliseconds(o.number("timeout", 0, float64(MaxTimeout.Milliseconds()), float64(DefaultTimeout.Milliseconds())))
		a.PersonTimeout = milliseconds(o.number("personTimeout", 1, float64(MaxPersonTimeout.Milliseconds()), 0))
	}
	switch a.Type {
	case Start:
		a.URL = f.address("url")
		o.yes("headless", true) // every session's Chromium has a view of its own
	case Navigate:
		a.URL = f.address("url")
		if a.WaitUntil = o.oneOf("waitUntil", "networkidle0", "load", "domcontentloaded", "networkidle"); a.WaitUntil == "networkidle0" {
			a.WaitUntil = "networkidle"
		}
	case Click:
		a.Selector = f.text("selector", maxSelector, true)
		a.WaitForNavigation = o.yes("waitForNavigation", false)
		a.Button = o.oneOf("button", "left", "right", "middle")
	case Type:
		a.Selector = f.text("selector", maxSelector, true)
		if f.left["text"] == nil {
			c.bad(f.at("text"), "is required")
		}
		a.Text = f.text("text", maxText, false)
		a.Delay = milliseconds(o.number("delay", 0, 10_000, float64(DefaultDelay.Milliseconds())))
		if a.typing() > maxTyping {
			c.bad(f.at("text"), "takes longer than %v to type: shorten it, or the delay", maxTyping)
		}
	case Scroll:
		a.Direction = f.oneOf("direction", "down", "up", "left", "right")
		a.Amount = int(f.number("amount", 1, maxScroll, 0))
	case Screenshot:
		a.FullPage = o.yes("fullPage", false)
		a.Quality = int(o.number("quality", 0, 100, DefaultQuality))
	case Stop:
	default:
		c.bad(f.at("type"), "must be one of start, stop, navigate, click, type, scroll, screenshot, diagnose")
		f.left, o.left = nil, nil
	}
	return a
}

// typing returns how long the pauses of typing take.
func (a *Action) typing() time.Duration {
	return time.Duration(len([]rune(a.Text))) * a.Delay
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// address reads the address of a web page.
func (f *fields) address(name string) string {
	text := f.text(name, maxURL, true)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		f.check.bad(f.at(name), "must be an address that begins with http:// or https://")
		return ""
	}
	return text
}

// steps reads the steps of a diagnose.
func (c *check) steps(f *fields, a *Action) {
	if f.left["steps"] == nil {
		c.bad(f.at("steps"), "is required")
	}
	items := f.list("steps", maxSteps)
	for i, item := range items {
		s := c.object(fmt.Sprintf("%s[%d]", f.at("steps"), i), item)
		if s.left == nil {
			continue
		}
		step := Step{Label: s.text("label", maxLabel, true), NoJSErrors: s.yes("noJsErrors", false), NoNetworkErrors: s.yes("noNetworkErrors", false)}
		if action := s.take("action"); action == nil {
			c.bad(s.at("action"), "is required")
		} else {
			step.Action = c.action(s.at("action"), action, false)
		}
		for n, said := range s.list("expectedLogs", maxExpected) {
			text, ok := said.(string)
			if !ok || text == "" || len(text) > maxSelector {
				c.bad(fmt.Sprintf("%s[%d]", s.at("expectedLogs"), n), "must be a text of 1 to %d bytes", maxSelector)
			}
			step.ExpectedLogs = append(step.ExpectedLogs, text)
		}
		s.done()
		a.Steps = append(a.Steps, step)
	}
	a.MaxSteps = int(f.number("maxSteps", 1, maxSteps, float64(max(len(a.Steps), 1))))
}
