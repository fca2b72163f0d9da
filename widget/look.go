package widget

import (
	"context"
	"encoding/json"
	"errors"

	"takeover/browser"
)

// TextHash returns a hash of the text of a page's main document, which tells
// whether the text has changed. It protects nothing.
func TextHash(ctx context.Context, p *browser.Page) (hash string, err error) {
	return hash, look(ctx, p, &hash, "() => globalThis.takeoverAgent?.textHash() ?? ''")
}

// Metric returns a metric of a page's main document: ttfb, fcp, lcp,
// domContentLoaded or load in ms, or cls. ok is false if there is none yet.
func Metric(ctx context.Context, p *browser.Page, name string) (value float64, ok bool, err error) {
	var found *float64
	if err := look(ctx, p, &found, "(name) => globalThis.takeoverAgent?.metric(name) ?? null", name); err != nil || found == nil {
		return 0, false, err
	}
	return *found, true, nil
}

// look asks the main document of a page for a value.
func look(ctx context.Context, p *browser.Page, into any, function string, args ...any) error {
	w := p.MainFrame().CurrentWorld(browser.WorldUtility)
	if w == nil {
		return ErrGone
	}
	raw, err := call(ctx, w, false, function, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return errors.Join(ErrGone, err)
	}
	return nil
}
