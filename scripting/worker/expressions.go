package worker

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja"

	"takeover/scripting/source"
)

// maxReceiver is the maximum length, in bytes, of the expression that is shown
// before a method's name. A longer one is shown as intermediate.
const maxReceiver = 120

// offsetOf returns the offset in source of a line and column from a stack frame,
// or -1 if they do not exist.
func offsetOf(source, line, column string) int {
	l, _ := strconv.Atoi(line)
	c, _ := strconv.Atoi(column)
	at := 0
	for ; l > 1; l-- {
		next := strings.IndexByte(source[at:], '\n')
		if next < 0 {
			return -1
		}
		at += next + 1
	}
	for ; c > 1 && at < len(source); c-- {
		_, size := utf8.DecodeRuneInString(source[at:])
		at += size
	}
	if l < 1 || c < 1 || at >= len(source) {
		return -1
	}
	return at
}

// receiverBefore returns the receiver of the method whose name begins at an offset, as
// V8 shows it: page.locator(...). It is empty if the name has no receiver. start is the
// offset at which the receiver begins.
func receiverBefore(source string, at int) (text string, start int) {
	var parts []string
	start = at
	rest := strings.TrimRightFunc(source[:at], unicode.IsSpace)
	for {
		dot := strings.TrimSuffix(strings.TrimSuffix(rest, "."), "?")
		if !strings.HasSuffix(rest, ".") && !strings.HasSuffix(rest, "[") {
			break
		}
		if strings.HasSuffix(rest, "[") {
			dot = strings.TrimSuffix(rest, "[")
		}
		part, before := operandBefore(strings.TrimRightFunc(dot, unicode.IsSpace))
		parts, start = append(parts, part), len(before)
		rest = strings.TrimRightFunc(before, unicode.IsSpace)
		if part == intermediate {
			break
		}
	}
	slices.Reverse(parts)
	if text = strings.Join(parts, "."); len(text) > maxReceiver {
		text = intermediate
	}
	return text, start
}

// intermediate is V8's text for a value without a name.
const intermediate = "(intermediate value)"

// operandBefore splits off the name at the end of text, with its calls and indexes.
func operandBefore(text string) (operand, before string) {
	tail := ""
	for {
		text = strings.TrimRightFunc(text, unicode.IsSpace)
		if !strings.HasSuffix(text, ")") && !strings.HasSuffix(text, "]") {
			break
		}
		open := openingBracket(text)
		if open < 0 {
			return intermediate, ""
		}
		inside := text[open+1 : len(text)-1]
		switch {
		case text[len(text)-1] == ']':
			tail = "[" + inside + "]" + tail
		case strings.TrimSpace(inside) == "":
			tail = "()" + tail
		default:
			tail = "(...)" + tail
		}
		text = text[:open]
	}
	start := len(text)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' {
			break
		}
		start -= size
	}
	name := text[start:]
	if name == "" || keywords[name] {
		return intermediate, ""
	}
	return name + tail, text[:start]
}

// keywords may stand before a bracket without being called.
var keywords = map[string]bool{"await": true, "return": true, "typeof": true, "void": true, "new": true, "in": true, "of": true, "case": true, "if": true, "while": true, "for": true, "yield": true, "delete": true, "throw": true, "else": true, "do": true, "async": true}

// openingBracket returns the offset of the bracket that the last bracket of text
// closes, or -1 if text does not end with one. It skips quoted text.
func openingBracket(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'', '`':
			open := strings.LastIndexByte(text[:i], text[i])
			for open > 0 && text[open-1] == '\\' {
				open = strings.LastIndexByte(text[:open], text[i])
			}
			if open < 0 {
				return -1
			}
			i = open
		}
	}
	return -1
}

// chainAfter returns the name that text begins with, with its members and calls.
func chainAfter(text string) string {
	out := ""
	for len(out) <= maxReceiver {
		name := identifier().FindString(text)
		if name == "" {
			return out
		}
		out, text = out+name, text[len(name):]
		if strings.HasPrefix(text, "(") {
			out, text = out+"(...)", text[source.BracketEnd(text):]
		}
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if !strings.HasPrefix(text, ".") || strings.HasPrefix(text, "..") {
			return out
		}
		out, text = out+".", strings.TrimLeftFunc(text[1:], unicode.IsSpace)
	}
	return ""
}

// receiverClass returns the class of a receiver, judged by its text: the name of a
// global, or the method that returned it.
func receiverClass(receiver string) string {
	last := receiver[strings.LastIndexByte(receiver, '.')+1:]
	name, _, isCall := strings.Cut(last, "(")
	if isCall {
		switch {
		case name == "locator", strings.HasPrefix(name, "getBy"), name == "first", name == "last", name == "nth", name == "filter":
			return "Locator"
		case name == "frameLocator":
			return "FrameLocator"
		}
		return ""
	}
	return map[string]string{"page": "Page", "popup": "Page", "context": "BrowserContext", "browser": "Browser", "request": "APIRequestContext", "keyboard": "Keyboard", "mouse": "Mouse",
		"touchscreen": "Touchscreen", "download": "Download", "dialog": "Dialog", "route": "Route", "response": "Response", "frame": "Frame"}[name]
}

// members returns the names of the members of a receiver's class, or of all
// classes if the class is unknown.
func (w *worker) members(receiver string) []string {
	f, ok := goja.AssertFunction(w.host.object.Get("members"))
	if !ok {
		return nil
	}
	v, err := f(goja.Undefined(), w.vm.ToValue(receiverClass(receiver)))
	var names []string
	if err != nil || json.Unmarshal([]byte(v.String()), &names) != nil {
		return nil
	}
	return names
}

// closest returns the name that a misspelt name probably means, or an empty text
// if no name is similar.
func closest(name string, names []string) string {
	if len(name) < 3 || len(name) > 40 {
		return ""
	}
	best, least := "", max(1, len(name)/4)+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); n != name && d < least {
			best, least = n, d
		}
	}
	return best
}

// distance returns how many letters have to be added, removed, replaced or swapped with
// the next one to turn one name into another.
func distance(a, b string) int {
	var older []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, last = last, row
	}
	return last[len(b)]
}
