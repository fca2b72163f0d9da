package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/dom"
)

// Place returns the position of the frame's viewport in the viewport of the
// page's main frame, in CSS pixels. Rotation and scaling of frames are ignored.
func (f *Frame) Place(ctx context.Context) (x, y float64, err error) {
	for at := f; ; {
		parent := at.Parent()
		if parent == nil {
			return x, y, nil
		}
		session := parent.Session()
		owner, err := Call(ctx, f.page.browser, session, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: at.id})
		if err != nil {
			return 0, 0, fmt.Errorf("find the frame's element: %w", at.explain(err))
		}
		box, err := Call(ctx, f.page.browser, session, dom.GetBoxModel, dom.GetBoxModelParams{BackendNodeID: owner.BackendNodeID})
		if err != nil {
			return 0, 0, fmt.Errorf("find the frame's element: %w", at.explain(err))
		}
		if box.Model == nil || len(box.Model.Content) < 2 {
			return 0, 0, fmt.Errorf("find the frame's element: it has no box")
		}
		x, y = x+box.Model.Content[0], y+box.Model.Content[1]
		// Chromium gives the box in the viewport of the topmost frame of the
		// parent's process.
		if at = f.page.Frame(parent.rootID()); at == nil {
			return 0, 0, ErrFrameDetached
		}
	}
}
