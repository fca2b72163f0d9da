package widget

import (
	"context"
	"errors"
	"fmt"

	"takeover/browser"
)

// maxAskedFrames bounds how many frames Waiting asks.
const maxAskedFrames = 8

// Waiting returns the field of a page that a person probably came for, although
// nothing has the focus: a field for a password or code in sight, or the first
// field in sight of its form, or of the page. Fields for searching do not count.
// The zero value is for none.
func (d *Desk) Waiting(ctx context.Context, p *browser.Page) (Focus, error) {
	frames := p.Frames()
	for _, f := range frames[:min(len(frames), maxAskedFrames)] {
		w := f.CurrentWorld(browser.WorldUtility)
		if w == nil {
			continue
		}
		raw, err := call(ctx, w, false, "() => globalThis.takeoverAgent?.waiting() ?? null")
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return Focus{}, err
		}
		found, _, err := parseField(raw)
		if err != nil {
			return Focus{}, fmt.Errorf("ask for the field that waits: %w", err)
		}
		if found == nil {
			continue
		}
		x, y, err := f.Place(ctx)
		if err != nil {
			return Focus{}, fmt.Errorf("ask for the field that waits: %w", err)
		}
		return found.moved(x, y), nil
	}
	return Focus{}, nil
}
