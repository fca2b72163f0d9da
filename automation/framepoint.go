package automation

import (
	"context"
	"fmt"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// outward converts a point in a frame to a point in its page. If hit is set,
// covered names the element that covers the frame at that point. ok is false when
// the frame is gone.
func (c *Client) outward(ctx context.Context, f *browser.Frame, x, y float64, hit bool) (px, py float64, covered string, ok bool, err error) {
	for parent := f.Parent(); parent != nil; f, parent = parent, parent.Parent() {
		pl, err := c.placeIn(ctx, parent, browser.WorldUtility)
		if err != nil {
			return 0, 0, "", false, err
		}
		owner, err := ownerOf(ctx, pl.layer.world, f)
		if err != nil {
			return 0, 0, "", false, err
		}
		var at *struct {
			X, Y    float64
			Covered string
		}
		if err := pl.layer.call(ctx, "outward", &at, owner, map[string]float64{"x": x, "y": y}, hit); err != nil {
			return 0, 0, "", false, err
		}
		if at == nil {
			return 0, 0, "", false, nil
		}
		x, y = at.X, at.Y
		if covered == "" {
			covered = at.Covered
		}
	}
	return x, y, covered, true, nil
}

type ownerKey struct{ frame proto.FrameID }

// ownerOf returns the element of a frame, in its parent's world w.
func ownerOf(ctx context.Context, w *browser.World, f *browser.Frame) (runtime.RemoteObjectID, error) {
	return inWorld(ctx, w, ownerKey{f.ID()}, func() (runtime.RemoteObjectID, error) {
		node, err := callIn(ctx, w, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: f.ID()})
		if err != nil {
			return "", fmt.Errorf("find the frame's element: %w", err)
		}
		object, err := callIn(ctx, w, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: node.BackendNodeID, ExecutionContextID: w.ContextID()})
		if err != nil {
			return "", fmt.Errorf("find the frame's element: %w", err)
		}
		return object.Object.ObjectID, nil
	})
}
