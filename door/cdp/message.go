package cdp

import (
	"encoding/json"
	"errors"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/cdp"
	"takeover/cdp/policy"
)

// Codes of errors, as Chromium uses them; package policy has the others.
const (
	codeParse   = -32700 // not JSON
	codeRequest = -32600 // not a command
	codeSession = -32001 // no such session
	maxNesting  = 250    // Chromium refuses deeper messages without naming their command
	maxIDDigits = 15
	textSession = "Session with given id not found."
)

// message is a command as a client sends it.
type message struct {
	ID        jsontext.Value  `json:"id"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	SessionID cdp.SessionID   `json:"sessionId"`
}

// parse parses a message. It checks that all of it is JSON, because parts of it go
// to Chromium as they are: a NUL byte would end the message on the pipe.
func parse(raw []byte) (message, error) {
	var m message
	if !shallow(raw) {
		return m, &policy.RefusedError{Code: codeParse, Message: "JSON: the message is nested too deeply"}
	}
	err := jsonv2.Unmarshal(raw, &m, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		return m, &policy.RefusedError{Code: codeRequest, Message: "Message must be an object with an integer 'id', a string 'method', an object 'params' and a string 'sessionId'"}
	} else if err != nil {
		return m, &policy.RefusedError{Code: codeParse, Message: "JSON: " + err.Error()}
	}
	if !isID(m.ID) {
		m.ID = nil
		return m, &policy.RefusedError{Code: codeRequest, Message: "Message must have integer 'id' property"}
	}
	if m.Method == "" {
		return m, &policy.RefusedError{Code: codeRequest, Message: "Message must have string 'method' property"}
	}
	if string(m.Params) == "null" {
		m.Params = nil
	}
	if len(m.Params) > 0 && m.Params[0] != '{' {
		return m, &policy.RefusedError{Code: policy.CodeParams, Message: "params: object expected"}
	}
	return m, nil
}

// isID reports whether a value is an integer that a client may use as an id.
func isID(v jsontext.Value) bool {
	digits := v
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > maxIDDigits {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// shallow reports whether brackets nest at most maxNesting deep.
func shallow(raw []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{', c == '[':
			if depth++; depth > maxNesting {
				return false
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return true
}

// appendReply appends the reply to a command: its result or, if err is not nil, an
// error.
func appendReply(b []byte, id jsontext.Value, session cdp.SessionID, result json.RawMessage, err error) []byte {
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	b = append(append(b, `{"id":`...), id...)
	if err != nil {
		b = appendError(b, err)
	} else {
		if len(result) == 0 {
			result = json.RawMessage("{}")
		}
		b = append(append(b, `,"result":`...), result...)
	}
	return appendSession(b, session)
}

func appendError(b []byte, err error) []byte {
	e := struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
		Data    string `json:"data,omitempty"`
	}{Code: policy.CodeServer, Message: err.Error()}
	if r, ok := errors.AsType[*policy.RefusedError](err); ok {
		e.Code, e.Message = r.Code, r.Message
	} else if r, ok := errors.AsType[*cdp.Error](err); ok {
		e.Code, e.Message, e.Data = r.Code, r.Message, r.Data
	} else if errors.Is(err, cdp.ErrDetached) {
		e.Code, e.Message = codeSession, textSession
	}
	raw, err := jsonv2.Marshal(e, jsontext.AllowInvalidUTF8(true))
	if err != nil { // cannot happen with these fields
		raw = []byte(`{"code":` + strconv.Itoa(policy.CodeServer) + `,"message":"error"}`)
	}
	return append(append(b, `,"error":`...), raw...)
}

// appendEvent appends an event.
func appendEvent(b []byte, method string, session cdp.SessionID, params []byte) []byte {
	b = append(append(append(b, `{"method":"`...), method...), `","params":`...)
	if len(params) == 0 {
		params = []byte("{}")
	}
	return appendSession(append(b, params...), session)
}

// appendSession ends a message, with its session unless that is the client's root.
func appendSession(b []byte, session cdp.SessionID) []byte {
	if session != "" {
		b = append(append(append(b, `,"sessionId":"`...), session...), '"')
	}
	return append(b, '}')
}

// wrong returns the error of a command with a wrong parameter, in Chromium's words.
func wrong(parameter string) error {
	return &policy.RefusedError{Code: policy.CodeParams, Message: "Invalid parameters: " + parameter}
}
