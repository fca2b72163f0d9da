package browser

import (
	"context"
	"fmt"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
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
// them, as long as anybody asked for it. It returns when that is so.
func (p *Page) InterceptFileChoosers(ctx context.Context, on bool) error {
	b := p.browser
	b.mu.Lock()
	before := p.choosers > 0
	if on {
		p.choosers++
	} else {
		p.choosers--
	}
	after := p.choosers > 0
	var sessions []*cdp.Session
	for _, a := range b.attachments {
		if a.page == p && a.worker == nil && before != after {
			sessions = append(sessions, a.session)
		}
	}
	b.mu.Unlock()
	params := page.SetInterceptFileChooserDialogParams{Enabled: after}
	for _, s := range sessions {
		if s != p.Session() {
			b.send(cdp.Send(s, page.SetInterceptFileChooserDialog, params))
			continue
		}
		if _, err := Call(ctx, b, s, page.SetInterceptFileChooserDialog, params); err != nil {
			return fmt.Errorf("intercept file choosers: %w", p.explain(err))
		}
	}
	return nil
}

func (a *attachment) fileChooserOpenedLocked(e page.EventFileChooserOpened) {
	f := a.page.frames[e.FrameID]
	if f == nil || e.BackendNodeID == 0 {
		return
	}
	a.page.tellLocked(FileChooserOpened{Frame: f, Node: e.BackendNodeID, Multiple: e.Mode == page.FileChooserOpenedModeSelectMultiple})
}
