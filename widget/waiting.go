package widget

import (
	"context"

	"takeover/browser"
)

// maxAskedFrames bounds how many frames Waiting asks.
const maxAskedFrames = 8

// Waiting returns the field of a page that a person probably came for, although
// nothing has the focus: a field for a password or code in sight, or the first
// field in sight of its form, or of the page. Fields for searching do not count.
// The zero value is for none.
func (t *Tracker) Waiting(ctx context.Context, p *browser.Page) (Focus, error) {
	var last error
	frames := p.Frames()
	for _, f := range frames[:min(len(frames), maxAskedFrames)] {
		w := f.CurrentWorld(browser.WorldUtility)
		if w == nil {
			continue
		}
		raw, err := call(ctx, w, false, "() => globalThis.takeoverAgent?.waiting() ?? null")
		if err != nil {
			last = err
			continue
		}
		found, _, err := parseField(raw)
		if err != nil {
			last = err
		}
		if found == nil {
			continue
		}
		if f == p.MainFrame() {
			return *found, nil
		}
		x, y, err := f.Place(ctx)
		if err != nil {
			last = err
			continue
		}
		if now := found.moved(x, y); shows(ctx, p, now.Element) {
			return now, nil
		}
	}
	return Focus{}, last
}

// shows reports whether the middle of a field in a frame can be seen in the page: a
// frame itself does not know what covers it.
func shows(ctx context.Context, p *browser.Page, field Rect) bool {
	w := p.MainFrame().CurrentWorld(browser.WorldUtility)
	if w == nil {
		return false
	}
	raw, err := call(ctx, w, false, "(x, y) => document.elementFromPoint(x, y) instanceof HTMLIFrameElement", field.X+field.Width/2, field.Y+field.Height/2)
	return err == nil && string(raw) == "true"
}
