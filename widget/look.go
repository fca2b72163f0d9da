package widget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"takeover/browser"
)

// TextHash returns a hash of the text of a page's main document, which tells
// whether the text has changed. It protects nothing.
func TextHash(ctx context.Context, p *browser.Page) (hash string, err error) {
	return hash, look(ctx, p.MainFrame(), &hash, "() => globalThis.takeoverAgent?.textHash() ?? ''")
}

// Metric returns a metric of a page's main document: ttfb, fcp, lcp,
// domContentLoaded or load in ms, or cls. ok is false if there is none yet. It waits
// for a document that is just loading.
func Metric(ctx context.Context, p *browser.Page, name string) (value float64, ok bool, err error) {
	if _, err := p.MainFrame().World(ctx, browser.WorldUtility); err != nil {
		return 0, false, fmt.Errorf("read a page's metric: %w", err)
	}
	var found *float64
	if err := look(ctx, p.MainFrame(), &found, "(name) => globalThis.takeoverAgent?.metric(name) ?? null", name); err != nil || found == nil {
		return 0, false, err
	}
	return *found, true, nil
}

// Secrets returns what the secret fields of a page's documents hold: at most 100 of
// each, cut to 512 UTF-16 units. The error says that not all of them could be asked.
func Secrets(ctx context.Context, p *browser.Page) (held []string, err error) {
	for _, f := range p.Frames() {
		var one []string
		if e := look(ctx, f, &one, "() => globalThis.takeoverAgent?.secretsHeld() ?? []"); e != nil {
			err = errors.Join(err, e)
		}
		held = append(held, one...)
	}
	return held, err
}

// look asks the document of a frame for a value.
func look(ctx context.Context, f *browser.Frame, into any, function string, args ...any) error {
	w := f.CurrentWorld(browser.WorldUtility)
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
