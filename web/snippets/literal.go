package snippets

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// widest is the length of a JSON value that is written on one line.
const widest = 76

// style is how a language writes JSON values.
type style struct {
	truth, falsehood, null string
	quote                  byte
	bareNames              bool // names of members need no quotes
	indent                 string
}

var (
	jsonStyle   = style{"true", "false", "null", '"', false, "  "}
	jsStyle     = style{"true", "false", "null", '\'', true, "  "}
	pythonStyle = style{"True", "False", "None", '"', false, "    "}
)

// lines writes a body for a shell or a raw string: JSON on one line if it is short.
func lines(body string, isJSON bool) string {
	if !isJSON {
		return body
	}
	return literal(body, jsonStyle)
}

// literal writes a JSON value in a language's style: on one line if it is short,
// and otherwise with a line for each member of the outermost value. The members keep
// their order. A value that is not JSON comes back as it is.
func literal(value string, in style) string {
	d := json.NewDecoder(strings.NewReader(value))
	d.UseNumber()
	var b strings.Builder
	if err := write(&b, d, in, len(value) > widest, 0); err != nil {
		return value
	}
	return b.String()
}

var name = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

var errNotJSON = errors.New("not a JSON value")

// write copies the next value of a decoder.
func write(b *strings.Builder, d *json.Decoder, in style, long bool, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return writeMembers(b, d, in, long && depth == 0, depth, t)
	case string:
		b.WriteString(quote(t, in.quote))
	case json.Number:
		b.WriteString(t.String())
	case bool:
		if t {
			b.WriteString(in.truth)
		} else {
			b.WriteString(in.falsehood)
		}
	case nil:
		b.WriteString(in.null)
	}
	return nil
}

// writeMembers copies the members of an object or an array, whose first token has
// been read.
func writeMembers(b *strings.Builder, d *json.Decoder, in style, long bool, depth int, opening json.Delim) error {
	between, first, last := ", ", "", ""
	isObject := opening == '{'
	if isObject && in.bareNames {
		first, last = " ", " "
	}
	if long {
		between, first, last = ",\n"+in.indent, "\n"+in.indent, "\n"
	}
	b.WriteString(opening.String())
	for i := 0; d.More(); i++ {
		if i == 0 {
			b.WriteString(first)
		} else {
			b.WriteString(between)
		}
		if isObject {
			token, err := d.Token()
			if err != nil {
				return err
			}
			member, ok := token.(string)
			if !ok {
				return errNotJSON
			}
			if !in.bareNames || !name.MatchString(member) {
				member = quote(member, in.quote)
			}
			b.WriteString(member + ": ")
		}
		if err := write(b, d, in, long, depth+1); err != nil {
			return err
		}
	}
	closing, err := d.Token()
	if err != nil {
		return err
	}
	end, ok := closing.(json.Delim)
	if !ok {
		return errNotJSON
	}
	text := b.String()
	if strings.HasSuffix(text, opening.String()) {
		last = "" // it has no members
	}
	b.WriteString(last + end.String())
	if depth > 0 {
		return nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errNotJSON
	}
	return nil
}

// quote writes a text in quotes, with JSON's escapes, which the languages share.
func quote(text string, with byte) string {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text can always be encoded
	quoted := strings.TrimSuffix(buf.String(), "\n")
	if with == '"' {
		return quoted
	}
	inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(inner, "'", `\'`) + "'"
}

// indented indents all lines but the first.
func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }
