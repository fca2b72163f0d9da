package browser

import (
	"context"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// underWayPatience bounds how long a page may take to confirm that earlier events
// are known. A page with an open dialog does not answer at all.
const underWayPatience = 2 * time.Second

// UnderWay is a running request.
type UnderWay struct {
	ID       string // Chromium's, the same for every client
	LoaderID string // of the requesting or requested document
	Kind     string // as Playwright names types of resources
	Started  time.Time
	Answered bool // its response has begun
}

// UnderWay returns the running requests of the page's own process, as of a moment
// after the call began. It excludes streams of events, which have no end.
func (p *Page) UnderWay(ctx context.Context) []UnderWay {
	ctx, cancel := context.WithTimeout(ctx, underWayPatience)
	defer cancel()
	_, _ = cdp.Call(ctx, p.Session(), runtime.GetIsolateID, proto.Empty{}) // any answer will do
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
