package browser

import (
	"context"
	"sync"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// activityPatience is how long a page may take to confirm that everything which
// happened in it so far has been reported. A page that shows a dialog does not
// confirm it at all.
const activityPatience = 2 * time.Second

// Activity says which requests of a page are running, when the page loaded, and
// when a request last began or ended.
type Activity struct {
	LoadedAt  time.Time  // when the document's load event was reported; zero before that
	RequestAt time.Time  // when a request last began or ended; zero if there was none
	UnderWay  []UnderWay // requests that have not ended
}

// UnderWay is a running request.
type UnderWay struct {
	ID       string // Chromium's, the same for every client
	Target   string // id of the target that sent it: the page's, or an out-of-process frame's
	LoaderID string // loader of the requesting document, or of the requested one
	Kind     string // Playwright's name for the type of resource
	Started  time.Time
	Answered bool // its response has begun
}

// Activity returns what is going on in the page and its frames, at a moment after
// the call began. If a process of the page does not respond, the latest events may
// be missing. Event streams, which have no end, are not among the requests.
func (p *Page) Activity(ctx context.Context) Activity {
	p.catchUp(ctx)
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	a := Activity{LoadedAt: p.loadedAt, RequestAt: p.requestAt}
	for id, c := range p.requests {
		r := c.last()
		if r == nil || r.ended || !c.counts || c.frame.detached || c.frame.attachment == nil || r.ResourceType == "eventsource" {
			continue
		}
		a.UnderWay = append(a.UnderWay, UnderWay{
			ID: id, Target: string(c.frame.attachment.root), LoaderID: string(c.loader), Kind: r.ResourceType,
			Started: time.UnixMilli(int64(r.wall * 1000)), Answered: r.response != nil,
		})
	}
	return a
}

// catchUp waits until the model knows what happened in the page's processes so far,
// or activityPatience has passed.
func (p *Page) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, activityPatience)
	defer cancel()
	sessions := map[*cdp.Session]bool{p.Session(): true}
	p.browser.mu.Lock()
	for _, f := range p.frames {
		if f.attachment != nil {
			sessions[f.attachment.session] = true
		}
	}
	p.browser.mu.Unlock()
	var all sync.WaitGroup
	for s := range sessions {
		all.Go(func() { _, _ = cdp.Call(ctx, s, runtime.GetIsolateID, proto.Empty{}) }) // any reply will do
	}
	all.Wait()
}
