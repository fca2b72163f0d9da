package cdp

import (
	"bytes"
	"errors"
	"strconv"
)

// envelope holds the top-level members of one message. Its slices point into the
// message.
type envelope struct {
	id        int64 // 0 for an event: ids start at 1
	method    []byte
	sessionID []byte
	params    []byte // an event's payload
	result    []byte // a reply's payload
	err       []byte // a reply's error object
}

var errEnvelope = errors.New("malformed message")

// maxNesting bounds how deep a payload may nest. Deeper messages are refused.
const maxNesting = 10_000

// parseEnvelope finds the members of the top-level object and skips their values:
// a picture of 200 KB inside params is not decoded. Chromium writes sessionId
// after params, so the rest of the message cannot simply be left unread.
func parseEnvelope(msg []byte) (envelope, error) {
	var env envelope
	i := skipSpace(msg, 0)
	if i >= len(msg) || msg[i] != '{' {
		return env, errEnvelope
	}
	i = skipSpace(msg, i+1)
	if i < len(msg) && msg[i] == '}' {
		return env, nil
	}
	for {
		if i >= len(msg) || msg[i] != '"' {
			return env, errEnvelope
		}
		end := skipString(msg, i)
		if end < 0 {
			return env, errEnvelope
		}
		key := msg[i+1 : end-1]
		i = skipSpace(msg, end)
		if i >= len(msg) || msg[i] != ':' {
			return env, errEnvelope
		}
		i = skipSpace(msg, i+1)
		end = skipValue(msg, i)
		if end < 0 {
			return env, errEnvelope
		}
		if err := env.set(key, msg[i:end]); err != nil {
			return env, err
		}
		i = skipSpace(msg, end)
		if i >= len(msg) {
			return env, errEnvelope
		}
		switch msg[i] {
		case ',':
			i = skipSpace(msg, i+1)
		case '}':
			if skipSpace(msg, i+1) != len(msg) {
				return env, errEnvelope
			}
			return env, nil
		default:
			return env, errEnvelope
		}
	}
}

func (env *envelope) set(key, value []byte) error {
	switch string(key) {
	case "id":
		if string(value) == "null" { // JSON-RPC: an error that belongs to no command
			env.id = 0
			return nil
		}
		id, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return errEnvelope
		}
		env.id = id
	case "method":
		env.method = unquote(value)
	case "sessionId":
		env.sessionID = unquote(value)
	case "params":
		env.params = value
	case "result":
		env.result = value
	case "error":
		env.err = value
	}
	return nil
}

// unquote removes the quotes of a name. Method names and session ids contain no
// escapes; a name with an escape would simply match nothing later.
func unquote(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i, or -1.
func skipString(b []byte, i int) int {
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		backslashes := 0
		for j := i - 1; b[j] == '\\'; j-- {
			backslashes++
		}
		i++
		if backslashes%2 == 0 {
			return i
		}
	}
}

// skipValue returns the index after the value that starts at i, or -1. It checks
// that brackets pair up, but not that the text in between is JSON. That is
// checked when the payload is decoded.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) && !isDelimiter(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', '}', ']', ':', '"', '{', '[', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

func skipNested(b []byte, i int) int {
	var small [64]byte
	open := small[:0]
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case '}', ']':
			if open[len(open)-1] != c {
				return -1
			}
			open = open[:len(open)-1]
			if len(open) == 0 {
				return i + 1
			}
		}
		if len(open) > maxNesting {
			return -1
		}
		i++
	}
	return -1
}
