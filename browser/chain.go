package browser

import (
	"slices"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
)

const (
	// keptRequests is how many ended requests of a page are remembered.
	// Playwright uses the same number for page.requests().
	keptRequests = 100

	// keptRequestBytes bounds the kept requests in bytes. Beyond that, the oldest
	// are dropped with their bodies, because pages choose how large bodies are.
	keptRequestBytes = 8 << 20

	// maxHead bounds a kept head in bytes. Larger heads are not kept.
	maxHead = 1 << 20
)

// chain is a request with its redirects. The request and each redirect is called a
// leg; Chromium gives all legs one id. Guarded by the browser's lock.
type chain struct {
	id       string
	frame    *Frame         // nil for a worker's request
	loader   proto.LoaderID // of the requesting or requested document
	counts   bool           // counts as one of the frame's running requests
	legs     []*Request
	sent     []extra // the network's report of each leg that was sent, in order
	received []extra

	preflight bool     // sent by Chromium itself and not reported
	overrides []Header // the headers with which the first leg was continued
	origin    string   // that the last leg was sent to
	askAgain  bool     // interceptors are asked about the next leg too
	paused    *pause   // a pause of a leg that has not been reported yet
}

// extra is the head of a message as it was on the wire.
type extra struct {
	headers jsonv2.Value
	text    int // size of the whole head in bytes; 0 if unknown
}

func (c *chain) last() *Request {
	if len(c.legs) == 0 {
		return nil
	}
	return c.legs[len(c.legs)-1]
}

// leaveOrigin takes Authorization out of the headers of further legs, as fetch
// does for a redirect to another origin. Chromium takes out Cookie itself.
func (c *chain) leaveOrigin() {
	c.overrides = slices.DeleteFunc(slices.Clone(c.overrides), func(h Header) bool { return strings.EqualFold(h.Name, "authorization") })
}

// extraIndexLocked returns the index of a leg's network report. Legs that came
// from a cache or that we answered have none.
func (c *chain) extraIndexLocked(r *Request) int {
	n := 0
	for _, leg := range c.legs {
		if leg == r {
			break
		}
		if leg.response != nil && leg.response.hasExtra {
			n++
		}
	}
	return n
}

// sentLocked returns the headers of a leg as they were sent, if known.
func (c *chain) sentLocked(r *Request) (jsonv2.Value, bool) {
	i := c.extraIndexLocked(r)
	switch {
	case i < len(c.sent) && (r.response == nil || r.response.hasExtra):
		return c.sent[i].headers, true
	case r.response != nil && !r.response.hasExtra, r.response == nil && r.ended:
		return r.headers, true
	}
	return nil, false
}

// receivedLocked returns the response head of a leg as received, or nil.
func (c *chain) receivedLocked(r *Request) *extra {
	if i := c.extraIndexLocked(r); i < len(c.received) {
		return &c.received[i]
	}
	return nil
}

// headersTextLocked returns the size of a leg's response head, or 0 if unknown.
func (c *chain) headersTextLocked(r *Request) int {
	if r.response == nil || !r.response.hasExtra {
		return 0
	}
	if e := c.receivedLocked(r); e != nil {
		return e.text
	}
	return 0
}

// chainLocked returns the chain with an id, and adds it if it is new.
func (p *Page) chainLocked(id string) *chain {
	c := p.requests[id]
	if c == nil {
		c = &chain{id: id}
		p.requests[id] = c
	}
	return c
}

// keepLocked adds a request to the page's newest ones and drops the oldest when
// there are too many.
func (p *Page) keepLocked(r *Request) {
	p.recent = append(p.recent, r)
	p.weighLocked(r)
	if len(p.recent) > keptRequests {
		p.forgetOldestLocked()
	}
}

// weighLocked updates the size of a request, and drops the oldest requests if all
// together are too large. The newest request is always kept.
func (p *Page) weighLocked(r *Request) {
	if r.forgotten {
		r.postData = nil
		return
	}
	size := len(r.URL) + len(r.headers) + len(r.postData)
	p.recentSize += size - r.weight
	r.weight = size
	for len(p.recent) > 1 && p.recentSize > keptRequestBytes {
		p.forgetOldestLocked().postData = nil
	}
}

func (p *Page) forgetOldestLocked() *Request {
	p.forgot = true
	old := p.recent[0]
	p.recent[0] = nil
	p.recent = p.recent[1:]
	p.recentSize -= old.weight
	old.forgotten = true
	if old.ended && old == old.chain.last() && p.requests[old.chain.id] == old.chain {
		delete(p.requests, old.chain.id)
	}
	return old
}

// keptHead returns a copy of a head, or nil if the head is larger than maxHead.
func keptHead(v jsonv2.Value) jsonv2.Value {
	if len(v) > maxHead {
		return nil
	}
	return v.Clone()
}

// Requests returns the page's newest requests, at most keptRequests with
// keptRequestBytes, oldest first.
func (p *Page) Requests() []*Request {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return append([]*Request(nil), p.recent...)
}

// ForgotRequests reports whether the page has made requests that Requests no longer
// returns.
func (p *Page) ForgotRequests() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.forgot
}
