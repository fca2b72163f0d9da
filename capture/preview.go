package capture

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"

	"takeover/text"
)

// jsonValue is a value that is already JSON.
type jsonValue = jsonv2.Value

// remoteObject holds the needed fields of CDP's Runtime.RemoteObject. Of an
// object, only the preview is read. V8 makes it without calling getters and
// without following cycles.
type remoteObject struct {
	Type           string    `json:"type"`
	Subtype        string    `json:"subtype"`
	ClassName      string    `json:"className"`
	Value          jsonValue `json:"value"`
	Unserializable string    `json:"unserializableValue"` // NaN, Infinity, -0, 1n
	Description    string    `json:"description"`
	ObjectID       string    `json:"objectId"`
	Preview        *preview  `json:"preview"`
}

// preview is CDP's Runtime.ObjectPreview.
type preview struct {
	Type        string            `json:"type"`
	Subtype     string            `json:"subtype"`
	Description string            `json:"description"`
	Overflow    bool              `json:"overflow"`
	Properties  []propertyPreview `json:"properties"`
	Entries     []previewEntry    `json:"entries"`
}

// previewEntry is CDP's Runtime.EntryPreview: an entry of a map, or of a set if
// it has no key.
type previewEntry struct {
	Key   *preview `json:"key"`
	Value *preview `json:"value"`
}

// propertyPreview is CDP's Runtime.PropertyPreview.
type propertyPreview struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Value   string   `json:"value"`
	Subtype string   `json:"subtype"`
	Nested  *preview `json:"valuePreview"`
}

// json returns the value as JSON: primitives unchanged, objects by their preview,
// everything else as a string. It reports whether anything was cut.
func (o *remoteObject) json() (jsonValue, bool) {
	switch {
	case o.Unserializable != "":
		return quoted(o.Unserializable)
	case o.Type == "string":
		return quoted(o.stringValue())
	case o.Type == "undefined":
		return jsonValue(`"undefined"`), false
	case o.Type == "function":
		return quoted(functionText(o.Description))
	case len(o.Value) > 0 && len(o.Value) <= maxConsoleText:
		return o.Value, false
	case o.Preview != nil && o.Subtype != "error" && o.Subtype != "node" && o.Subtype != "regexp" && o.Subtype != "date":
		b, short := o.Preview.appendJSON(nil)
		return b, short || o.Preview.Overflow
	}
	return quoted(o.Description)
}

func quoted(s string) (jsonValue, bool) {
	s, short := cut(s, maxConsoleText)
	return text.AppendQuoted(nil, s), short
}

func (o *remoteObject) stringValue() string {
	var s string
	if decode(o.Value, &s) != nil {
		return o.Description
	}
	return s
}

// functionText names a function without its source.
func functionText(description string) string {
	head, _, _ := strings.Cut(description, "(")
	name := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(head, "async "), "function"))
	if name == "" || len(name) > 100 || strings.ContainsAny(name, "\n{=") {
		return "[Function]"
	}
	return "[Function: " + name + "]"
}

// text returns the value as a console shows it. nested is true inside another
// value, where strings are quoted.
func (o *remoteObject) text(nested bool) string {
	switch {
	case o.Unserializable != "":
		return o.Unserializable
	case o.Type == "string":
		if nested {
			return strconv.Quote(o.stringValue())
		}
		return o.stringValue()
	case o.Type == "undefined":
		return "undefined"
	case o.Type == "function":
		return functionText(o.Description)
	case len(o.Value) > 0:
		return string(o.Value)
	case o.Preview != nil && o.Subtype != "error" && o.Subtype != "node" && o.Subtype != "regexp" && o.Subtype != "date":
		return o.Preview.text()
	}
	return o.Description
}

func (p *preview) isList() bool {
	return p.Subtype == "array" || p.Subtype == "typedarray"
}

// text formats a preview as a console does: {a: 1, b: "x", …}.
func (p *preview) text() string {
	var b strings.Builder
	open, end := "{", "}"
	if p.isList() {
		open, end = "[", "]"
	} else if p.Description != "Object" && p.Description != "" {
		b.WriteString(p.Description + " ")
	}
	b.WriteString(open)
	first := true
	comma := func() {
		if !first {
			b.WriteString(", ")
		}
		first = false
	}
	properties := p.Properties
	if len(p.Entries) > 0 {
		properties = nil // the size of a map or set, which the description already contains
	}
	for _, q := range properties {
		comma()
		if !p.isList() {
			b.WriteString(q.Name + ": ")
		}
		switch {
		case q.Nested != nil:
			b.WriteString(q.Nested.text())
		case q.Type == "string":
			b.WriteString(strconv.Quote(q.Value))
		default:
			b.WriteString(q.plain())
		}
	}
	for _, entry := range p.Entries {
		comma()
		if entry.Key != nil {
			b.WriteString(entry.Key.Description + " => ")
		}
		if entry.Value != nil {
			b.WriteString(entry.Value.Description)
		}
	}
	if p.Overflow {
		comma()
		b.WriteString("…")
	}
	b.WriteString(end)
	return b.String()
}

// plain returns the value of a property that is neither a string nor a nested
// preview.
func (q *propertyPreview) plain() string {
	switch q.Type {
	case "accessor":
		return "[Getter]" // the getter is not called
	case "function":
		return "[Function]"
	case "undefined":
		return "undefined"
	}
	return q.Value
}

// appendJSON writes a preview as JSON.
func (p *preview) appendJSON(b []byte) ([]byte, bool) {
	short := false
	if len(p.Entries) > 0 {
		return p.appendEntries(b)
	}
	open, end := byte('{'), byte('}')
	if p.isList() {
		open, end = '[', ']'
	}
	b = append(b, open)
	for i, q := range p.Properties {
		if i > 0 {
			b = append(b, ',')
		}
		if open == '{' {
			b = append(text.AppendQuoted(b, q.Name), ':')
		}
		switch {
		case q.Nested != nil:
			var nested bool
			b, nested = q.Nested.appendJSON(b)
			short = short || nested
		case q.Type == "number" && json.Valid([]byte(q.Value)), q.Type == "boolean", q.Subtype == "null":
			b = append(b, q.Value...)
		default:
			shown := q.plain()
			if q.Type == "string" {
				shown = q.Value
			}
			b = text.AppendQuoted(b, shown)
		}
	}
	return append(b, end), short
}

// appendEntries writes a map as a list of pairs and a set as a list.
func (p *preview) appendEntries(b []byte) ([]byte, bool) {
	b = append(b, '[')
	for i, entry := range p.Entries {
		if i > 0 {
			b = append(b, ',')
		}
		value := ""
		if entry.Value != nil {
			value = entry.Value.Description
		}
		if entry.Key != nil {
			b = text.AppendQuoted(append(b, '['), entry.Key.Description)
			b = append(text.AppendQuoted(append(b, ','), value), ']')
			continue
		}
		b = text.AppendQuoted(b, value)
	}
	return append(b, ']'), false
}

// consoleText returns a call's arguments as one line, with the format specifiers
// of the first argument filled in (https://console.spec.whatwg.org/#formatter).
func consoleText(args []remoteObject) (string, bool) {
	var b strings.Builder
	if len(args) > 1 && args[0].Type == "string" {
		format := args[0].stringValue()
		args = args[1:]
		if strings.Contains(format, "%") && len(format) <= maxConsoleText {
			args = formatInto(&b, format, args)
		} else {
			b.WriteString(format)
		}
		if len(args) > 0 {
			b.WriteByte(' ')
		}
	}
	for i := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(args[i].text(false))
		if b.Len() > maxConsoleText {
			break
		}
	}
	return cut(b.String(), maxConsoleText)
}

// formatInto writes format with its specifiers replaced, and returns the
// arguments that were not used.
func formatInto(b *strings.Builder, format string, args []remoteObject) []remoteObject {
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 || at+1 == len(format) {
			b.WriteString(format)
			return args
		}
		b.WriteString(format[:at])
		verb := format[at+1]
		format = format[at+2:]
		switch {
		case verb == '%':
			b.WriteByte('%')
		case strings.IndexByte("sdifoOc", verb) < 0 || len(args) == 0:
			b.WriteByte('%')
			b.WriteByte(verb)
		default:
			if verb != 'c' { // %c styles text and prints nothing
				b.WriteString(args[0].text(verb == 'o' || verb == 'O'))
			}
			args = args[1:]
		}
	}
}
