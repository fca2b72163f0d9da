package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"takeover/invalid"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

const (
	// bodyLimit bounds a JSON body in bytes, unless a route has its own bound.
	bodyLimit = 1 << 20
	// createBodyLimit leaves room for a session's initial cookies and storage.
	createBodyLimit = 16 << 20
	// scriptLimit bounds the source of a script, in bytes.
	scriptLimit = 1 << 20
	// scriptBodyLimit leaves room for JSON escapes and arguments.
	scriptBodyLimit = 8 << 20
	// drainLimit (bytes) and drainTime bound how much of a refused body is read,
	// and for how long.
	drainLimit = 64 << 20
	drainTime  = 5 * time.Second
)

// readJSON decodes the body into a struct. An empty body counts as an empty
// object. It refuses unknown and repeated names, wrong types, values beyond the bounds
// in the tags of the struct's fields, and anything but one object. The error names the
// field.
func readJSON(c echo.Context, limit int64, into any) error {
	raw, err := readBody(c, limit)
	if err != nil {
		return err
	}
	return decodeObject(raw, into)
}

func readBody(c echo.Context, limit int64) ([]byte, error) {
	body := c.Request().Body
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, &failure{kind: kindBadInput, detail: "The body ended early.", err: err}
	}
	if int64(len(raw)) <= limit {
		return raw, nil
	}
	return nil, &failure{kind: kindTooLarge, detail: fmt.Sprintf("The body may have at most %d bytes.", limit)}
}

// drain reads more of the body before a refusal is sent. If the server closed a
// connection with unread data, the connection would be reset, and a caller that is
// still sending would not see the response. A caller that waits for permission to
// send (RFC 9110, section 10.1.1) does not get permission.
func drain(c echo.Context, refusal kind, within time.Duration) {
	r := c.Request()
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" && refusal != kindTooLarge {
		if r.Body != nil && r.Body != http.NoBody {
			c.Response().Header().Set("Connection", "close")
		}
		return
	}
	rc := http.NewResponseController(c.Response())
	_ = rc.SetReadDeadline(time.Now().Add(within)) // not supported by a test's recorder
	if _, err := io.CopyN(io.Discard, r.Body, drainLimit); !errors.Is(err, io.EOF) {
		c.Response().Header().Set("Connection", "close")
	}
}

func decodeObject(raw []byte, into any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return checkBounds(into)
	}
	if raw[0] != '{' {
		return &failure{kind: kindBadInput, detail: "The body must be a JSON object."}
	}
	if err := json.Unmarshal(raw, into, json.RejectUnknownMembers(true)); err != nil {
		return decodeFailure(err)
	}
	return checkBounds(into)
}

// decodeFailure converts an error of the JSON package to a failure that names the
// field.
func decodeFailure(err error) error {
	if bad := invalid.JSON(err); bad != nil {
		return asFailure(bad)
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &failure{kind: kindBadInput, detail: fmt.Sprintf("The body is not JSON (byte %d).", syntax.ByteOffset), err: err}
	}
	return &failure{kind: kindBadInput, detail: "The body cannot be read as JSON.", err: err}
}

// checks collects the errors of a request's fields, so that a caller gets all of
// them at once.
type checks struct{ fields []invalid.FieldError }

func (v *checks) add(field, format string, args ...any) {
	v.fields = append(v.fields, invalid.FieldError{Field: field, Error: fmt.Sprintf(format, args...)})
}

// collect adds the fields of an *invalid.Error.
func (v *checks) collect(err error) {
	if wrong, ok := errors.AsType[*invalid.Error](err); ok {
		v.fields = append(v.fields, wrong.Fields...)
	}
}

// atMost checks a text's length in bytes.
func (v *checks) atMost(field, text string, limit int) {
	if len(text) > limit {
		v.add(field, "must have at most %d bytes", limit)
	}
}

// oneOf checks that a value is one of a fixed set.
func (v *checks) oneOf(field, word string, words ...string) {
	for _, w := range words {
		if w == word {
			return
		}
	}
	v.add(field, "must be one of %s", strings.Join(words, ", "))
}

func (v *checks) err() error {
	if len(v.fields) == 0 {
		return nil
	}
	return &invalid.Error{Fields: v.fields}
}
