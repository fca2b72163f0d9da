package policy

import (
	"encoding/json"
	"errors"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/text"
)

// Codes of errors, as Chromium uses them.
const (
	CodeMethod = -32601 // no such command
	CodeParams = -32602 // wrong parameters
	CodeServer = -32000 // refused for another reason
)

// RefusedError is the error that a program gets as the reply to a command.
type RefusedError struct {
	Code    int64
	Message string
	Own     bool // the server refuses what Chromium would do; otherwise Chromium would give the same error
}

// Error returns the message.
func (r *RefusedError) Error() string { return r.Message }

// Refuse returns the error for a command that programs may not send, or not with
// these parameters.
func Refuse(method, reason string) error {
	return &RefusedError{Code: CodeServer, Message: method + " is not available in Takeover: " + reason, Own: true}
}

// Object is a JSON object, such as the parameters of a command, to be changed.
type Object map[string]jsontext.Value

// ReadObject decodes an object. A name that stands twice is refused, because
// Chromium might read the other one.
func ReadObject(raw []byte) (Object, error) {
	o := Object{}
	return o, Decode(raw, &o)
}

// Decode decodes the parameters of a command; no parameters leave into as it is. The
// error names the parameter that is wrong.
func Decode(raw []byte, into any, options ...jsonv2.Options) error {
	if len(raw) == 0 {
		return nil
	}
	return wrongParams(jsonv2.Unmarshal(raw, into, append(options, jsontext.AllowInvalidUTF8(true))...))
}

func wrongParams(err error) error {
	if err == nil {
		return nil
	}
	reason := err.Error()
	if e, ok := errors.AsType[*jsonv2.SemanticError](err); ok && e.JSONPointer != "" {
		reason = strings.TrimPrefix(string(e.JSONPointer), "/") + ": must not be a " + e.JSONKind.String()
		if errors.Is(err, jsonv2.ErrUnknownName) {
			reason = strings.TrimPrefix(string(e.JSONPointer), "/") + ": unknown parameter"
		}
	}
	return &RefusedError{Code: CodeParams, Message: "Invalid parameters: " + text.Clip(reason, 200)}
}

// Encode returns the object's JSON.
func (o Object) Encode() (json.RawMessage, error) {
	return jsonv2.Marshal(o, jsontext.AllowInvalidUTF8(true))
}

// Put sets a member.
func (o Object) Put(name string, value any) error {
	raw, err := jsonv2.Marshal(value, jsontext.AllowInvalidUTF8(true))
	o[name] = raw
	return err
}

// Text returns a member that is a string.
func (o Object) Text(name string) (value string, ok bool) {
	raw, there := o[name]
	return value, there && decode(raw, &value)
}

// remove removes a member, and reports whether it was there.
func (o Object) remove(name string) bool {
	_, there := o[name]
	delete(o, name)
	return there
}

// decode decodes what Chromium sent, or a member that Chromium checks.
func decode(raw []byte, into any) bool {
	return jsonv2.Unmarshal(raw, into, jsontext.AllowInvalidUTF8(true)) == nil
}
