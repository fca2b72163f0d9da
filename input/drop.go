package input

import (
	cdpinput "github.com/chromedp/cdproto/input"

	"takeover/cdp"
	"takeover/invalid"
)

// MaxDropFiles bounds the files in one drop, or in one answer to a file chooser.
const MaxDropFiles = 100

// Drop is a drop of files on the page.
type Drop struct {
	X         float64  `json:"x"` // CSS pixels of the viewport
	Y         float64  `json:"y"`
	Files     []string `json:"files"` // names; the caller of Dispatcher.Drop gives their paths
	Modifiers int      `json:"modifiers"`
}

// Validate returns an *invalid.Error for the first field that is wrong.
func (d Drop) Validate() error {
	if err := finite("x", d.X, maxCoordinate); err != nil {
		return err
	}
	if err := finite("y", d.Y, maxCoordinate); err != nil {
		return err
	}
	if len(d.Files) == 0 || len(d.Files) > MaxDropFiles {
		return invalid.Field("files", "must be between 1 and %d names", MaxDropFiles)
	}
	if d.Modifiers&^allModifiers != 0 {
		return invalid.Field("modifiers", "must be a sum of 1, 2, 4 and 8")
	}
	return nil
}

// copyOperation is Chromium's bit for a drag that copies.
const copyOperation = 1

// Drop drags files of this machine to a point of the page and drops them there.
func (d *Dispatcher) Drop(drop Drop, paths []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	data := &cdpinput.DragData{Items: []*cdpinput.DragDataItem{}, Files: paths, DragOperationsMask: copyOperation}
	for _, kind := range []cdpinput.DispatchDragEventType{
		cdpinput.DispatchDragEventTypeDragEnter, cdpinput.DispatchDragEventTypeDragOver, cdpinput.DispatchDragEventTypeDrop,
	} {
		err := cdp.Send(d.session, cdpinput.DispatchDragEvent, cdpinput.DispatchDragEventParams{
			Type: kind, X: drop.X, Y: drop.Y, Data: data, Modifiers: int64(drop.Modifiers),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
