package automation

import (
	"context"
	"maps"
	"slices"

	"takeover/browser"
)

// listeningOperations are the operations of this file.
var listeningOperations = table{
	// {page|context, event: "dialog"|"dialog-alone"|"console"|"pageerror"|"filechooser", on}:
	// events of these kinds are sent only to clients that listen. A client that
	// listens for dialogs gets dialog.opened
	// {dialog,page,type,message,defaultValue} and must answer it; with dialog-alone,
	// only for those that open while nobody else acts in the session.
	"listen": op(false, opListen),
}

// subscription is a kind of event that a client listens for, and where: a
// *browser.Page, or a *browser.Context with all its pages.
type subscription struct {
	where any
	event string
}

type listenParams struct {
	Page    string `json:"page"`
	Context string `json:"context"`
	Event   string `json:"event"`
	On      bool   `json:"on"`
}

// opListen starts or stops sending the client a kind of event. Pages may produce
// some kinds without end, and listening for others changes how a page behaves.
func opListen(ctx context.Context, c *Client, p *listenParams) (any, error) {
	var s subscription
	s.event = p.Event
	if p.Page == "" {
		bc, err := c.contextOf(p.Context)
		if err != nil {
			return nil, err
		}
		s.where = bc
	} else {
		page, err := c.page(p.Page)
		if err != nil {
			return nil, err
		}
		s.where = page
	}
	before := c.events.listen(s, p.On)
	if page, ok := s.where.(*browser.Page); ok && s.event == eventFileChooser && before != p.On {
		c.undo(page.Context(), "file choosers", page, func(ctx context.Context) error {
			if !c.events.listens(s) {
				return nil
			}
			return page.InterceptFileChoosers(ctx, false)
		})
		return emptyJSON, page.InterceptFileChoosers(ctx, p.On)
	}
	return emptyJSON, nil
}

// Kinds of events that are sent only to clients that listen.
const (
	eventDialog      = "dialog"
	eventDialogAlone = "dialog-alone"
	eventConsole     = "console"
	eventPageError   = "pageerror"
	eventFileChooser = "filechooser"

	eventRequest         = "request"
	eventResponse        = "response"
	eventRequestFinished = "requestfinished"
	eventRequestFailed   = "requestfailed"
)

// hears reports whether the client listens for a kind of event in a page.
func (c *Client) hears(p *browser.Page, event string) bool {
	return c.events.listens(subscription{p, event}, subscription{p.Context(), event})
}

// HearsFileChoosers reports whether a client listens for a page's file choosers,
// and so answers them.
func (a *Automation) HearsFileChoosers(p *browser.Page) bool {
	a.mu.Lock()
	clients := slices.Collect(maps.Keys(a.clients))
	a.mu.Unlock()
	return slices.ContainsFunc(clients, func(c *Client) bool { return c.drives(p) && c.hears(p, eventFileChooser) })
}
