package automation

import (
	"context"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"

	"takeover/browser"
	"takeover/cdp"
)

// observePage reports page events to the client, except events about documents.
// It runs on the model's goroutine.
func (c *Client) observePage(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.ConsoleCalled:
		if c.drives(ev.Page) {
			c.onConsole(ev)
		}
	case browser.ExceptionThrown:
		if c.drives(ev.Page) {
			c.onException(ev)
		}
	case browser.BindingCalled:
		c.onBinding(ev)
	case browser.WorkerCreated:
		if c.knows(ev.Worker.Context()) {
			c.emit("worker.created", c.describeWorker(ev.Worker))
		}
	case browser.WorkerClosed:
		if id, known := c.handles.known(ev.Worker); known {
			c.emit("worker.closed", map[string]any{"worker": id})
		}
		c.forget(ev.Worker)
	case browser.DownloadBegan:
		if d := ev.Download; c.drives(d.Page()) {
			c.emit("download", map[string]any{
				"download": c.idOf("download", d), "page": c.idOf("page", d.Page()), "url": d.URL(), "suggestedFilename": d.SuggestedName(),
			})
		}
	case browser.FileChooserOpened:
		if p := ev.Frame.Page(); c.drives(p) && c.hears(p, eventFileChooser) {
			c.spawn(func(ctx context.Context) { c.onFileChooser(ctx, ev) })
		}
	}
}

// spawn runs the handling of an event on a goroutine that Close waits for. It
// returns false after Close.
func (c *Client) spawn(do func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.calls.Go(func() { do(c.life) })
	return true
}

// knows reports whether the client receives events and sees the context.
func (c *Client) knows(bc *browser.Context) bool {
	if !c.events.open() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.contexts[bc]
}

// onFileChooser gives a listening client the input that opened the file chooser.
func (c *Client) onFileChooser(ctx context.Context, ev browser.FileChooserOpened) {
	w, err := ev.Frame.World(ctx, browser.WorldMain)
	if err != nil {
		return // the page is gone
	}
	h, err := c.keepNode(ctx, w, ev.Node)
	if err != nil {
		return
	}
	_ = c.tell(ctx, "filechooser", map[string]any{ // fails only when the client is closing
		"page": c.idOf("page", ev.Frame.Page()), "frame": c.idOf("frame", ev.Frame), "element": h.result(), "isMultiple": ev.Multiple,
	})
}

// tell sends an event from a goroutine other than the model's.
func (c *Client) tell(ctx context.Context, event string, params any) error {
	return c.automation.browser.Do(ctx, func() { c.emit(event, params) })
}

// keepNode makes a handle for a node in an event.
func (c *Client) keepNode(ctx context.Context, w *browser.World, id proto.BackendNodeID) (*handle, error) {
	got, err := cdp.Call(ctx, w.Session(), dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: id, ExecutionContextID: w.ContextID()})
	if err != nil {
		return nil, err
	}
	return c.keep(w, got.Object)
}
