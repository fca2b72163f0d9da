package browser

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"
)

// ScriptError is an exception thrown by a function that was called in a page.
type ScriptError struct {
	Name    string // such as "TypeError"; empty if the thrown value is not an Error
	Message string
	Stack   string // as V8 writes it, with name and message; empty if Name is empty
}

// Error returns the name and the message.
func (e *ScriptError) Error() string {
	if e.Name == "" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// newScriptError reads V8's description of an exception. For an Error, the
// protocol gives only the stack, which begins with name and message.
func newScriptError(d *runtime.ExceptionDetails) *ScriptError {
	x := d.Exception
	if x == nil { // for example, thrown by a timer's function
		e := &ScriptError{Message: strings.TrimPrefix(strings.TrimPrefix(d.Text, "Uncaught "), "(in promise) ")}
		if name, message, found := strings.Cut(e.Message, ": "); found && isErrorName(name) {
			e.Name, e.Message = name, message
			e.Stack = e.Error() + stackText(d.StackTrace)
		}
		return e
	}
	if x.Subtype != runtime.RemoteObjectSubtypeError {
		return &ScriptError{Message: thrownValue(x, d.Text)}
	}
	e := &ScriptError{Name: x.ClassName, Stack: x.Description}
	head := x.Description
	if i := strings.Index(head, "\n    at "); i >= 0 {
		head = head[:i]
	}
	name, message, found := strings.Cut(head, ": ")
	switch {
	case found && isErrorName(name):
		e.Name, e.Message = name, message
	case isErrorName(head) && (head == x.ClassName || strings.HasSuffix(head, "Error")): // no message
		e.Name = head
	default:
		e.Message = head
	}
	return e
}

// isErrorName reports whether s can be the name of an error: one word.
func isErrorName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " \t\n")
}

// thrownValue describes a thrown value that is not an Error, as String would.
func thrownValue(x *runtime.RemoteObject, text string) string {
	switch {
	case x.UnserializableValue != "":
		return string(x.UnserializableValue)
	case x.Type == runtime.RemoteObjectTypeString:
		var s string
		if jsonv2.Unmarshal(x.Value, &s, jsonv2.AllowInvalidUTF8(true)) == nil {
			return s
		}
	case x.Type == runtime.RemoteObjectTypeUndefined:
		return "undefined"
	case len(x.Value) > 0:
		return string(x.Value)
	case x.Description != "":
		return x.Description
	}
	return text
}

// stackText returns a stack in V8's form, below the error's message.
func stackText(stack *runtime.StackTrace) string {
	if stack == nil {
		return ""
	}
	var b strings.Builder
	for _, f := range stack.CallFrames {
		place := fmt.Sprintf("%s:%d:%d", f.URL, f.LineNumber+1, f.ColumnNumber+1)
		if f.FunctionName != "" {
			place = f.FunctionName + " (" + place + ")"
		}
		b.WriteString("\n    at " + place)
	}
	return b.String()
}
