package browser

import (
	"context"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// underWayPatience is how long a page may take to say that all that happened in it
// before is known; one that shows a dialog does not say it at all.
const underWayPatience = 2 * time.Second

// UnderWay is a request that has not ended.
type UnderWay struct {
	ID       string // Chromium's, the same for every client
	LoaderID string // of the document that asked, or that is asked for
	Kind     string // as Playwright names types of resources
	Started  time.Time
	Answered bool // its response has begun
}

// UnderWay returns the requests of the page's own process that have not ended, as of
// a moment after the call began. Streams of events, which have no end, are not among
// them.
func (p *Page) UnderWay(ctx context.Context) []UnderWay {
	ctx, cancel := context.WithTimeout(ctx, underWayPatience)
	defer cancel()
	_, _ = cdp.Call(ctx, p.Session(), runtime.GetIsolateID, proto.Empty{}) // whatever it answers
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	var list []UnderWay
	for id, c := range p.requests {
		r := c.last()
		if r == nil || r.ended || !c.counts || c.frame.attachment != p.attachment || r.ResourceType == "eventsource" {
			continue
		}
		list = append(list, UnderWay{
			ID: id, LoaderID: string(c.loader), Kind: r.ResourceType,
			Started: time.UnixMilli(int64(r.wall * 1000)), Answered: r.response != nil,
		})
	}
	return list
}
