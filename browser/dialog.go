package browser

import (
	"context"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

// Dialog is an open JavaScript dialog. All methods may be called from any
// goroutine.
type Dialog struct {
	page         *Page
	attachment   *attachment
	kind         string
	message      string
	defaultValue string

	closed bool // guarded by the browser's lock
}

// Page returns the page that the dialog blocks.
func (d *Dialog) Page() *Page { return d.page }

// Type returns "alert", "confirm", "prompt" or "beforeunload".
func (d *Dialog) Type() string { return d.kind }

// Message returns the text of the dialog. It comes from a page and is hostile.
func (d *Dialog) Message() string { return d.message }

// DefaultValue returns the default answer of a prompt.
func (d *Dialog) DefaultValue() string { return d.defaultValue }

// Closed reports whether the dialog was answered or has vanished.
func (d *Dialog) Closed() bool {
	d.page.browser.mu.Lock()
	defer d.page.browser.mu.Unlock()
	return d.closed
}

// Accept answers with OK; text is the value that a prompt returns. The error is
// ErrDialogClosed when the dialog was answered before.
func (d *Dialog) Accept(ctx context.Context, text string) error {
	return d.answer(ctx, page.HandleJavaScriptDialogParams{Accept: true, PromptText: text})
}

// Dismiss answers with Cancel. The error is ErrDialogClosed if the dialog was
// answered before.
func (d *Dialog) Dismiss(ctx context.Context) error {
	return d.answer(ctx, page.HandleJavaScriptDialogParams{Accept: false})
}

func (d *Dialog) answer(ctx context.Context, params page.HandleJavaScriptDialogParams) error {
	if d.Closed() {
		return ErrDialogClosed
	}
	_, err := Call(ctx, d.page.browser, d.attachment.session, page.HandleJavaScriptDialog, params)
	if err == nil {
		return nil
	}
	// Chromium refuses these parameters only if no dialog is open.
	if e, ok := errors.AsType[*cdp.Error](err); ok && e.Code == codeInvalidParams || errors.Is(err, cdp.ErrDetached) {
		return ErrDialogClosed
	}
	return fmt.Errorf("answer dialog: %w", err)
}

func (a *attachment) dialogOpeningLocked(e page.EventJavascriptDialogOpening) {
	p := a.page
	p.dialogGoneLocked(false, "")
	p.dialog = &Dialog{
		page: p, attachment: a,
		kind: string(e.Type), message: e.Message, defaultValue: e.DefaultPrompt,
	}
	p.tellLocked(DialogOpened{Dialog: p.dialog})
}

func (a *attachment) dialogClosedLocked(e page.EventJavascriptDialogClosed) {
	a.page.dialogGoneLocked(e.Result, e.UserInput)
}

// dialogGoneLocked ends the page's dialog, if one is open.
func (p *Page) dialogGoneLocked(accepted bool, text string) {
	d := p.dialog
	if d == nil {
		return
	}
	p.dialog = nil
	d.closed = true
	if d.kind == string(page.DialogTypeBeforeunload) && !accepted {
		p.stayed = d.attachment
	}
	p.tellLocked(DialogClosed{Dialog: d, Accepted: accepted, Text: text})
}
