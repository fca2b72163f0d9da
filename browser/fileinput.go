package browser

import (
	"context"
	"fmt"
	"slices"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// FileInput is an input element that opened a file chooser. It is kept until
// Release, even if it is not in a document. All methods may be called from any
// goroutine.
type FileInput struct {
	world  *World
	object runtime.RemoteObjectID
	accept string
}

// Input finds the element. The caller must release it.
func (ev FileChooserOpened) Input(ctx context.Context) (*FileInput, error) {
	w, err := ev.Frame.World(ctx, WorldUtility)
	if err != nil {
		return nil, err
	}
	got, err := cdp.Call(ctx, w.Session(), dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: ev.Node, ExecutionContextID: w.ContextID()})
	if err != nil {
		return nil, fmt.Errorf("find file input: %w", err)
	}
	input := &FileInput{world: w, object: got.Object.ObjectID}
	node, err := cdp.Call(ctx, w.Session(), dom.DescribeNode, dom.DescribeNodeParams{ObjectID: input.object})
	if err != nil {
		input.Release()
		return nil, fmt.Errorf("describe file input: %w", err)
	}
	if at := slices.Index(node.Node.Attributes, "accept"); at >= 0 && at%2 == 0 && at+1 < len(node.Node.Attributes) {
		input.accept = node.Node.Attributes[at+1]
	}
	return input, nil
}

// Accept returns the element's accept attribute, which names the preferred kinds
// of files. It is hostile.
func (i *FileInput) Accept() string { return i.accept }

// Gone returns a channel that is closed when the element's document is gone.
func (i *FileInput) Gone() <-chan struct{} { return i.world.Destroyed() }

// SetFiles gives the element files of this machine, as if a person had chosen
// them.
func (i *FileInput) SetFiles(ctx context.Context, paths []string) error {
	_, err := cdp.Call(ctx, i.world.Session(), dom.SetFileInputFiles, dom.SetFileInputFilesParams{ObjectID: i.object, Files: paths})
	if err != nil {
		return fmt.Errorf("set files: %w", err)
	}
	return nil
}

// cancelChooser tells the page that nothing was chosen. Chromium itself does so
// only when it has shown the chooser.
const cancelChooser = `function() { this.dispatchEvent(new Event('cancel', { bubbles: true })) }`

// Cancel tells the page that nothing was chosen.
func (i *FileInput) Cancel(ctx context.Context) error {
	_, err := i.world.Call(ctx, CallOptions{Function: cancelChooser, Object: i.object, ByValue: true})
	return err
}

// Release releases the element.
func (i *FileInput) Release() {
	i.world.Page().browser.send(cdp.Send(i.world.Session(), runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: i.object}))
}
