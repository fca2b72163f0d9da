package widget

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
)

// askWorld is the name of the world in which Ask evaluates. No listeners run
// there, and Ask keeps debuggers from stopping in it.
const askWorld = "takeover-ask"

// maxFrameDepth bounds how far Ask follows the focus into frames.
const maxFrameDepth = 16

// askExpression returns the expression whose value is the kind of the focused
// field, or the element of the focused frame.
func askExpression(source []byte) string {
	return "if (!globalThis.takeoverFocused) {" + string(source) + "}\ntakeoverFocused()"
}

// Ask asks Chromium for the kind of a page's focused field, and makes Secret
// return it if it is secret, until the next Ask or the agent's next report of the
// focus. A script with a debugger can stop the agents from reporting, but it
// cannot reach what Ask evaluates.
func (t *Tracker) Ask(ctx context.Context, p *browser.Page) error {
	for {
		before, _ := t.Reported(p)
		kind, err := t.ask(ctx, p)
		if err != nil {
			return err
		}
		if t.found(p, kind, before) {
			return nil
		}
	}
}

// Reported returns how often agents reported the focus of a page, and whether it is in a
// field that is not secret by the last report.
func (t *Tracker) Reported(p *browser.Page) (times uint64, plain bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := t.pages[p]; st != nil {
		return st.reports, st.inner.Editable() && st.secret() == ""
	}
	return 0, false
}

// found records the answer to a question, or returns false if it may be older
// than what an agent reported since.
func (t *Tracker) found(p *browser.Page, kind string, reports uint64) bool {
	t.mu.Lock()
	st := t.pages[p]
	if st == nil {
		if kind == "" { // nothing to remember, perhaps because the page was closed
			t.mu.Unlock()
			return true
		}
		st = &pageState{}
		t.pages[p] = st
	}
	if st.reports != reports {
		t.mu.Unlock()
		return false
	}
	before := st.secret()
	st.asked = Focus{Kind: kind}
	changed := st.secret() != before
	t.mu.Unlock()
	if changed {
		t.tell(p, FocusChanged)
	}
	return true
}

func (t *Tracker) ask(ctx context.Context, p *browser.Page) (string, error) {
	frame := p.MainFrame()
	for range maxFrameDepth {
		w, err := frame.World(ctx, browser.WorldUtility) // waits while Chromium holds commands back
		if err != nil {
			return "", err
		}
		id, err := browser.Call(ctx, t.model, w.Session(), page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: frame.ID(), WorldName: askWorld})
		if err != nil {
			return "", err
		}
		res, err := browser.Call(ctx, t.model, w.Session(), runtime.Evaluate, runtime.EvaluateParams{
			Expression: t.asking, ContextID: id.ExecutionContextID, DisableBreaks: new(true), Silent: new(true),
		})
		switch {
		case err != nil:
			return "", err
		case res.ExceptionDetails != nil:
			return "", fmt.Errorf("ask for the focus: %s", res.ExceptionDetails.Text)
		case res.Result.ObjectID == "":
			var kind string
			err := json.Unmarshal(res.Result.Value, &kind)
			return kind, err
		}
		node, err := browser.Call(ctx, t.model, w.Session(), dom.DescribeNode, dom.DescribeNodeParams{ObjectID: res.Result.ObjectID})
		_ = cdp.Send(w.Session(), runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: res.Result.ObjectID}) // fails when the document is gone
		if err != nil {
			return "", err
		}
		if frame = p.Frame(node.Node.FrameID); frame == nil {
			return "", browser.ErrFrameDetached
		}
	}
	return "", nil
}
