package capture

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"mime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/network"
)

const (
	// MaxBodyBytes is how much of a response's body an event carries; the rest
	// is cut on a character's boundary.
	MaxBodyBytes = 900_000

	// maxBodyBuffer and maxBodyBuffers are how much Chromium keeps of one
	// response and of all, per target, for us to ask for.
	maxBodyBuffer  = 16 << 20
	maxBodyBuffers = 64 << 20

	// maxBodiesAtOnce bounds how many bodies are fetched at a time, and with it
	// the memory they take on their way. Further responses are written without.
	maxBodiesAtOnce = 16

	// bodyPatience is how long Chromium may take to hand a body over.
	bodyPatience = 5 * time.Second
)

// textual tells whether bodies of this MIME type are text.
func textual(mimeType string) bool {
	t, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		t = strings.ToLower(mimeType)
	}
	switch {
	case strings.HasPrefix(t, "text/"), strings.HasSuffix(t, "+json"), strings.HasSuffix(t, "+xml"):
		return true
	}
	switch t {
	case "application/json", "application/javascript", "application/x-javascript", "application/ecmascript", "application/xml",
		"application/x-www-form-urlencoded", "application/graphql", "application/x-ndjson", "application/jsonlines",
		"application/manifest+json", "application/yaml", "application/x-yaml", "application/csp-report", "application/sql":
		return true
	}
	return false
}

// withBody writes a response when its body is there. It must be asked for at
// once: Chromium forgets it with the document.
func (w *watched) withBody(r *request, e Event, data networkResponseData) {
	select {
	case w.l.bodies <- struct{}{}:
	default:
		e.Truncated = true
		w.m.writeLocked(e, TypeNetworkResponse, data)
		return
	}
	if e.TS = time.Now().UnixMilli(); w.l.ending {
		return
	}
	session := w.m.id
	w.l.taskLocked(func() {
		body, ok := w.fetchBody(r.id)
		<-w.l.bodies
		w.m.mu.Lock()
		defer w.m.mu.Unlock()
		if !w.m.running || w.m.id != session {
			return
		}
		if !ok {
			e.Truncated = true
		} else {
			text, short := cut(body, MaxBodyBytes)
			data.Body, e.Truncated = &text, e.Truncated || short
			if data.BodySize == 0 {
				data.BodySize = int64(len(body))
			}
		}
		w.m.writeLocked(e, TypeNetworkResponse, data)
	})
}

// fetchBody asks Chromium for a body, as text.
func (w *watched) fetchBody(id string) (string, bool) {
	ctx, cancel := context.WithTimeout(w.l.ctx, bodyPatience)
	defer cancel()
	var raw json.RawMessage
	if err := w.session.Call(ctx, network.GetResponseBody.Method, network.GetResponseBodyParams{RequestID: network.RequestID(id)}, &raw); err != nil {
		return "", false
	}
	var res struct {
		Body   string `json:"body"`
		Base64 bool   `json:"base64Encoded"`
	}
	if decode(raw, &res) != nil {
		return "", false
	}
	if res.Base64 {
		b, err := base64.StdEncoding.DecodeString(res.Body)
		if err != nil || !utf8.Valid(b) {
			return "", false
		}
		res.Body = string(b)
	}
	// Redacted here, off the mapping goroutine: a large body takes a while.
	if len(res.Body) > 2*MaxBodyBytes {
		res.Body, _ = cut(res.Body, 2*MaxBodyBytes)
	}
	return w.m.redactor.Text(res.Body), true
}
