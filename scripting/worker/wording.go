package worker

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"takeover/scripting/wire"
)

// wordings are goja's messages that V8 words differently, each with a function that
// returns V8's message, or an empty text to keep goja's. The first group of a
// pattern is the name in the message. goja does not distinguish undefined from
// null.
var wordings = []struct {
	begins  string // the beginning of the message, checked before the pattern
	pattern *regexp.Regexp
	words   func(e *goError) string
}{
	{"Object has no member '", regexp.MustCompile(`(?s)^Object has no member '(.*)'$`), (*goError).noMember},
	{"Value is not an object: ", regexp.MustCompile(`(?s)^Value is not an object: (.*)$`), (*goError).notCallable},
	{"Not a function: ", regexp.MustCompile(`(?s)^Not a function: (.*)$`), (*goError).notCallable},
	{"Value is not a constructor", regexp.MustCompile(`^Value is not (a constructor)$`), (*goError).notCallable},
	{"Cannot read property '", regexp.MustCompile(`(?s)^Cannot read property '(.*)' of undefined(?: or null)?$`), func(e *goError) string {
		return "Cannot read properties of undefined or null (reading '" + e.named + "')"
	}},
	{"Cannot convert undefined or null to object", regexp.MustCompile(`^(Cannot convert undefined or null to object)$`), (*goError).notObject},
	{"object is not iterable", regexp.MustCompile(`^(object) is not iterable$`), (*goError).notIterable},
	{"Cannot access a variable before initialization", regexp.MustCompile(`^Cannot access (a variable) before initialization$`), func(e *goError) string {
		return "Cannot access '" + e.orIdentifier("a variable") + "' before initialization"
	}},
	{"Class constructor cannot be", regexp.MustCompile(`^(Class constructor) cannot be invoked without 'new'$`), func(e *goError) string {
		return "Class constructor " + e.orIdentifier("") + " cannot be invoked without 'new'"
	}},
	{"No initial value", regexp.MustCompile(`^(No initial value)$`), func(*goError) string { return "Reduce of empty array with no initial value" }},
	{"Malformed URI", regexp.MustCompile(`^(Malformed URI)$`), func(*goError) string { return "URI malformed" }},
	{"Promise self-resolution", regexp.MustCompile(`^(Promise self-resolution)$`), func(*goError) string { return "Chaining cycle detected for promise #<Promise>" }},
}

// goError is an error from goja, with its position in the script.
type goError struct {
	w       *worker
	named   string // the name in its message
	source  string // source of the script
	at      int    // offset of the innermost frame in the script; -1 if unknown
	builtin string // the built-in function that threw it; empty if the script did
}

// reword returns an error's message in V8's wording: reword(message, stack).
func (h *host) reword(c goja.FunctionCall) goja.Value {
	message := c.Argument(0).String()
	if len(message) > wire.MaxErrorText {
		return c.Argument(0)
	}
	for _, w := range wordings {
		if !strings.HasPrefix(message, w.begins) {
			continue
		}
		if m := w.pattern.FindStringSubmatch(message); m != nil {
			e := h.w.goError(m[1], c.Argument(1).String())
			if better := w.words(e); better != "" {
				return h.w.vm.ToValue(better)
			}
		}
	}
	if name, ok := strings.CutSuffix(message, " is not defined"); ok {
		if guess := closest(name, scriptGlobals); guess != "" {
			return h.w.vm.ToValue(message + ": did you mean " + guess + "?")
		}
	}
	return c.Argument(0)
}

// scriptGlobals are the globals that scripts use most.
var scriptGlobals = []string{"page", "context", "browser", "request", "expect", "requestTakeover", "recording", "console", "args", "require", "setTimeout", "JSON", "Promise", "fetch"}

var nativeFrame = regexp.MustCompile(`^\s*at (.*) \(native\)$`)

func (w *worker) goError(named, stack string) *goError {
	e := &goError{w: w, named: named, source: w.code, at: -1}
	for line := range strings.SplitSeq(stack, "\n") {
		if m := nativeFrame.FindStringSubmatch(line); m != nil {
			e.builtin = m[1]
			return e
		}
		m := stackFrame.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[2] == w.script {
			e.at = offsetOf(w.code, m[3], m[4])
		}
		break
	}
	return e
}

// noMember returns the message for a call of a method that does not exist.
func (e *goError) noMember() string {
	callee := e.named
	receiver := ""
	if e.at >= 0 && strings.HasPrefix(e.source[e.at:], e.named) {
		receiver, _ = receiverBefore(e.source, e.at)
	} else if e.at >= 0 {
		receiver, _ = receiverBefore(e.source, strings.LastIndexByte(e.source[:e.at], '[')+1)
	}
	if receiver != "" {
		callee = receiver + "." + e.named
	}
	text := callee + " is not a function"
	if promised.MatchString(receiver) {
		return text + ": " + receiver + " gives a promise, put await before it"
	}
	if guess := closest(e.named, e.w.members(receiver)); guess != "" {
		return text + ": did you mean " + guess + "?"
	}
	return text
}

// promised matches API calls that return promises, whose results scripts often use
// without awaiting them.
var promised = regexp.MustCompile(`\.(title|content|textContent|innerText|innerHTML|inputValue|getAttribute|count|all|allTextContents|allInnerTexts|evaluate|\$|\$\$|\$eval|\$\$eval|cookies|boundingBox|json|text|body|path|goto|newPage|newContext|waitFor\w+)\([^()]*\)$`)

// takesCallback matches built-in functions that reject an argument that is not a
// function.
var takesCallback = regexp.MustCompile(`^(map|forEach|filter|reduce|reduceRight|some|every|find\w*|flatMap|sort|toSorted|from|then|Promise)$`)

// notCallable returns the message for a call of something that is not a function.
func (e *goError) notCallable() string {
	if e.builtin != "" {
		if takesCallback.MatchString(e.builtin) {
			return e.named + " is not a function"
		}
		return ""
	}
	if e.at < 0 {
		return ""
	}
	text := e.source[e.at:]
	if m := afterNew().FindStringSubmatch(text); m != nil {
		if m[1] == "Promise" {
			return "Promise resolver " + e.named + " is not a function"
		}
		return m[1] + " is not a constructor"
	}
	name := identifier().FindString(text)
	if name == "" || keywords[name] || !strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(text[len(name):], "?."), " \t\r\n"), "(") {
		return ""
	}
	if receiver, _ := receiverBefore(e.source, e.at); receiver != "" {
		name = receiver + "." + name
	}
	return name + " is not a function"
}

// notObject returns the message for an assignment to a property of undefined or
// null.
func (e *goError) notObject() string {
	if e.builtin != "" || e.at <= 0 || e.source[e.at-1] != '.' {
		return ""
	}
	name := identifier().FindString(e.source[e.at:])
	if name == "" || !assignment.MatchString(e.source[e.at+len(name):]) {
		return ""
	}
	return "Cannot set properties of undefined or null (setting '" + name + "')"
}

// notIterable names the value that a loop, a spread or a pattern cannot iterate.
func (e *goError) notIterable() string {
	if e.builtin != "" || e.at < 0 {
		return ""
	}
	receiver, start := receiverBefore(e.source, e.at)
	name := chainAfter(e.source[e.at:])
	if name == "" || !iterates.MatchString(e.source[max(0, start-16):start]) {
		return ""
	}
	if receiver != "" {
		name = receiver + "." + name
	}
	if locates.MatchString(name) {
		return name + " is not iterable: loop over what its all() gives, with await"
	}
	return name + " is not iterable"
}

var (
	identifier = whenUsed(`^[\p{L}_$][\p{L}\p{N}_$]*`)
	afterNew   = whenUsed(`^new\s+([\p{L}_$][\p{L}\p{N}_$.]*)`)
	assignment = regexp.MustCompile(`^\s*([-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)?=[^=>]`)
	iterates   = regexp.MustCompile(`(\bof\s+|\.\.\.|[^=!<>]=\s*)$`)
	locates    = regexp.MustCompile(`\.(locator|getBy\w+|filter)\(\.\.\.\)$`)
)

// whenUsed compiles an expression when it is first used. Expressions with Unicode
// classes are large, and few runs use them.
func whenUsed(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// orIdentifier returns the name at the error's position.
func (e *goError) orIdentifier(otherwise string) string {
	if e.at >= 0 {
		if name := identifier().FindString(e.source[e.at:]); name != "" {
			return name
		}
	}
	return otherwise
}
