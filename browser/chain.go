package browser

import (
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
)

const (
	// keptRequests is how many requests of a page that have ended are remembered;
	// Playwright's number for page.requests().
	keptRequests = 100

	// keptRequestBytes bounds, in bytes, what is kept of them; of more the oldest go,
	// and with them their bodies, which pages make as large as they like.
	keptRequestBytes = 8 << 20

	// maxHead bounds, in bytes, a head that is kept; of a larger one nothing is.
	maxHead = 1 << 20
)

// chain is a request and what it was redirected to: Chromium gives all of them
// one id. Guarded by the browser's lock.
type chain struct {
	id       string
	frame    *Frame         // nil for a worker's
	loader   proto.LoaderID // of the document that asked, or that is asked for
	counts   bool           // among the frame's requests under way
	legs     []*Request
	sent     []extra // what the network said of each leg that went out, in order
	received []extra

	preflight bool     // of the network's own: nobody is told
	overrides []Header // that the first leg was continued with
	askAgain  bool     // interceptors are asked about the next leg, too
	paused    *pause   // of a leg that was not told of yet
}

// extra is a message's head as it was on the wire.
type extra struct {
	headers jsonv2.Value
	text    int // bytes of the whole head, 0 when Chromium does not say
}

func (c *chain) last() *Request {
	if len(c.legs) == 0 {
		return nil
	}
	return c.legs[len(c.legs)-1]
}

// extraIndexLocked is which of the network's words belong to a leg: those that came
// from a cache or were answered by us have none.
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

// sentLocked is a leg's header as it was sent, once it is known.
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

// receivedLocked is the head of a leg's answer as it came, or nil.
func (c *chain) receivedLocked(r *Request) *extra {
	if i := c.extraIndexLocked(r); i < len(c.received) {
		return &c.received[i]
	}
	return nil
}

// headersTextLocked is the size of the head of a leg's answer, 0 if it is not known.
func (c *chain) headersTextLocked(r *Request) int {
	if r.response == nil || !r.response.hasExtra {
		return 0
	}
	if e := c.receivedLocked(r); e != nil {
		return e.text
	}
	return 0
}

// chainLocked is the chain of an id, which it adds when it is new.
func (p *Page) chainLocked(id string) *chain {
	c := p.requests[id]
	if c == nil {
		c = &chain{id: id}
		p.requests[id] = c
	}
	return c
}

// keepLocked adds to the page's newest requests and forgets the oldest when there
// are too many.
func (p *Page) keepLocked(r *Request) {
	p.recent = append(p.recent, r)
	p.weighLocked(r)
	if len(p.recent) > keptRequests {
		p.forgetOldestLocked()
	}
}

// weighLocked counts what a request takes anew. The newest is kept, whatever it
// takes.
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

// keptHead is a copy of a head that came with a message.
func keptHead(v jsonv2.Value) jsonv2.Value {
	if len(v) > maxHead {
		return nil
	}
	return v.Clone()
}

// Requests are the page's newest requests, at most keptRequests with
// keptRequestBytes, the oldest first.
func (p *Page) Requests() []*Request {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return append([]*Request(nil), p.recent...)
}
