package browser

import (
	"context"
	"fmt"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
)

// FileChooserOpened reports that a page opened a file chooser that was intercepted
// and not shown. It is sent only for input elements.
type FileChooserOpened struct {
	Frame    *Frame
	Node     proto.BackendNodeID // the input, in the frame's session
	Multiple bool
}

func (FileChooserOpened) event() {}

// InterceptFileChoosers makes the page report file choosers instead of showing
// them, while at least one caller wants that: each call with true needs a later
// one with false. It returns when every process of the page has applied it.
func (p *Page) InterceptFileChoosers(ctx context.Context, on bool) error {
	if err := p.browser.callAll(ctx, p.countChoosers(on)); err != nil {
		return fmt.Errorf("intercept file choosers: %w", p.explain(err))
	}
	return nil
}

// AskFileChoosers is like InterceptFileChoosers, but does not wait.
func (p *Page) AskFileChoosers(on bool) {
	for _, call := range p.countChoosers(on) {
		p.browser.send(call.session.Send(call.method, call.params))
	}
}

// countChoosers counts the callers, and returns the commands that are now needed.
func (p *Page) countChoosers(on bool) []sessionCall {
	b := p.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	before := p.choosers > 0
	if on {
		p.choosers++
	} else {
		p.choosers--
	}
	after := p.choosers > 0
	if before == after {
		return nil
	}
	params := page.SetInterceptFileChooserDialogParams{Enabled: after}
	return b.callsLocked(func(a *attachment) bool { return a.page == p && a.worker == nil }, func(a *attachment) sessionCall {
		return sessionCall{a.session, page.SetInterceptFileChooserDialog.Method, params}
	})
}

func (a *attachment) fileChooserOpenedLocked(e page.EventFileChooserOpened) {
	f := a.page.frames[e.FrameID]
	if f == nil || e.BackendNodeID == 0 {
		return
	}
	a.page.tellLocked(FileChooserOpened{Frame: f, Node: e.BackendNodeID, Multiple: e.Mode == page.FileChooserOpenedModeSelectMultiple})
}
