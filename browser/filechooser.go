package browser

import (
	"context"
	"fmt"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
)

// FileChooserOpened tells that a page asked for files while somebody intercepts
// that; no dialog is shown. Told only for an input element.
type FileChooserOpened struct {
	Frame    *Frame
	Node     proto.BackendNodeID // the input, in the frame's session
	Multiple bool
}

func (FileChooserOpened) event() {}

// InterceptFileChoosers makes the page tell of file choosers instead of showing
// them, as long as anybody asked for it: each call with true wants one with false.
// It returns when that is so in every process of the page.
func (p *Page) InterceptFileChoosers(ctx context.Context, on bool) error {
	if err := p.browser.callAll(ctx, p.countChoosers(on)); err != nil {
		return fmt.Errorf("intercept file choosers: %w", p.explain(err))
	}
	return nil
}

// AskFileChoosers is InterceptFileChoosers without waiting.
func (p *Page) AskFileChoosers(on bool) {
	for _, call := range p.countChoosers(on) {
		p.browser.send(call.session.Send(call.method, call.params))
	}
}

// countChoosers counts who intercepts, and gives the commands that follow from it.
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
