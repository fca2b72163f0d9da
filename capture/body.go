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
	// MaxBodyBytes bounds the body in an event; the rest is cut at a character
	// boundary.
	MaxBodyBytes = 900_000

	// Chromium keeps at most maxBodyBuffer bytes of a response for us, and at
	// most maxBodyBuffers bytes of all responses of a target.
	maxBodyBuffer  = 16 << 20
	maxBodyBuffers = 64 << 20

	// maxBodiesAtOnce bounds the bodies that are fetched at the same time, and so
	// their memory. maxBodiesWaiting bounds the responses that wait for their
	// bodies. Further responses are written without a body.
	maxBodiesAtOnce  = 16
	maxBodiesWaiting = 1024

	// bodyDelay is how long fetching a body is postponed while its page loads,
	// because the page needs the processor more.
	bodyDelay = time.Second

	// bodyPatience bounds how long Chromium may take to return a body.
	bodyPatience = 15 * time.Second
)

// textual reports whether bodies of this MIME type are text.
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

// waitingBody is a response that waits for its body.
type waitingBody struct {
	w    *watched
	r    *request
	e    Event
	data networkResponseData
	due  time.Time // when to fetch it even if the page is still loading
}

// withBody writes a response when its body has arrived. The body is fetched when
// the page has loaded, when it requests its next document, or after bodyDelay.
// Chromium drops the bodies of a document when the page leaves it.
func (w *watched) withBody(r *request, e Event, data networkResponseData) {
	now := time.Now()
	if e.TS = now.UnixMilli(); w.l.ending {
		return
	}
	if len(w.l.bodies) >= maxBodiesWaiting {
		e.Truncated = true
		w.m.writeLocked(e, TypeNetworkResponse, data)
		return
	}
	e.CaptureSessionID = w.m.id
	w.l.bodies = append(w.l.bodies, waitingBody{w, r, e, data, now.Add(bodyDelay)})
	w.l.bodiesAt = now
}

// loads records whether the page's document is loading.
func (w *watched) loads(loading bool) {
	w.loading = loading
	w.l.bodiesAt = time.Now()
}

// tickBodies fetches the bodies that are due, and returns when to check again.
func (l *link) tickBodies(now time.Time) time.Time {
	if due(l.bodiesAt, now) {
		l.askForBodies(now)
	}
	return l.bodiesAt
}

// askForBodies fetches the bodies that are due, up to the limit.
func (l *link) askForBodies(now time.Time) {
	l.bodiesAt = time.Time{}
	waiting := l.bodies[:0]
	for _, b := range l.bodies {
		page := b.w.page()
		switch asked := page == nil || !page.loading || due(b.due, now); {
		case !asked:
			l.bodiesAt = earliest(l.bodiesAt, b.due)
			waiting = append(waiting, b)
		case l.fetching == maxBodiesAtOnce: // the next body that arrives checks again
			waiting = append(waiting, b)
		default:
			l.fetching++
			l.taskLocked(func() { l.fetch(b) })
		}
	}
	clear(l.bodies[len(waiting):])
	l.bodies = waiting
}

// fetch fetches a body and writes its response.
func (l *link) fetch(b waitingBody) {
	body, ok := b.w.fetchBody(b.r)
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.fetching--
	l.askForBodies(time.Now())
	if !l.m.running || l.m.id != b.e.CaptureSessionID {
		return
	}
	if !ok {
		b.e.Truncated = true
	} else {
		text, short := cut(body, MaxBodyBytes)
		b.data.Body, b.e.Truncated = &text, b.e.Truncated || short
		if b.data.BodySize == 0 {
			b.data.BodySize = int64(len(body))
		}
	}
	l.m.writeLocked(b.e, TypeNetworkResponse, b.data)
}

// giveUpBodies writes the waiting responses without their bodies.
func (l *link) giveUpBodies() {
	for _, b := range l.bodies {
		b.e.Truncated = true
		l.m.writeLocked(b.e, TypeNetworkResponse, b.data)
	}
	l.bodies = nil
}

// fetchBody fetches the body of a request's response from Chromium, as text.
func (w *watched) fetchBody(r *request) (string, bool) {
	ctx, cancel := context.WithTimeout(w.l.ctx, bodyPatience)
	defer cancel()
	var raw json.RawMessage
	if err := w.session.Call(ctx, network.GetResponseBody.Method, network.GetResponseBodyParams{RequestID: network.RequestID(r.id)}, &raw); err != nil {
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
	// Redacted here and not on the mapping goroutine, because a large body takes
	// a while.
	if len(res.Body) > 2*MaxBodyBytes {
		res.Body, _ = cut(res.Body, 2*MaxBodyBytes)
	}
	return w.m.redactor.Answer(res.Body, r.post, r.url), true
}
