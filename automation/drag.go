package automation

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/input"

	"takeover/browser"
)

// dragPatience bounds how long a frame may take to report whether a drag began in
// it, and how long Chromium may take to return the dragged data.
const dragPatience = time.Second

// anyDragOperation is Chromium's mask of all drag operations.
const anyDragOperation = 0xffff

// drag is a drag that a pressed left button may start. Without a window system,
// nothing carries the dragged data to its target. So the data is taken from
// Chromium, and moved by events.
type drag struct {
	watches []*layer        // in the page's frames
	data    *input.DragData // the dragged data, or nil; guarded by the lock of inputState
}

type dragKey struct{}

// dragWatchOf returns the page side that watches for a drag in a world.
func (a *Automation) dragWatchOf(ctx context.Context, w *browser.World) (*layer, error) {
	return installed(ctx, w, dragKey{}, func() (string, any, error) {
		s, err := scripts()
		return "function(){" + s.drag + "\nreturn new takeoverExports.DragWatch()}\n//# sourceURL=" + evaluatorURL + "\n", nil, err
	})
}

// carryOn handles a mouse event during a drag, or when a drag may begin. carried
// reports whether it handled the event.
func (s *inputState) carryOn(ctx context.Context, ev input.DispatchMouseEventParams) (carried bool, err error) {
	left := buttonBits[input.MouseButtonLeft]
	s.mu.Lock()
	d := s.drag
	var data *input.DragData
	if d != nil {
		data = d.data
	}
	ends := d != nil && ev.Type == input.DispatchMouseEventTypeMouseReleased && ev.Button == input.MouseButtonLeft
	if ends {
		s.drag = nil
	}
	s.mu.Unlock()
	moves := ev.Type == input.DispatchMouseEventTypeMouseMoved
	switch {
	case ends:
		return data != nil, s.dragEnd(ctx, d, data, ev)
	case data != nil && moves:
		return true, s.dispatchDrag(ctx, input.DispatchDragEventTypeDragOver, data, ev)
	case data != nil: // a button other than the dragging one
		return true, nil
	case moves && ev.Buttons&left != 0:
		return true, s.dragMove(ctx, d, ev)
	}
	return false, nil
}

// dragMove moves the mouse while the left button is held down.
func (s *inputState) dragMove(ctx context.Context, d *drag, ev input.DispatchMouseEventParams) error {
	if d == nil {
		if err := s.page.InterceptDrags(true); err != nil {
			return err
		}
		d = &drag{watches: s.watchDrags(ctx)}
		s.mu.Lock()
		s.drag = d
		s.mu.Unlock()
	}
	if _, err := browser.Call(ctx, s.page.Browser(), s.page.Session(), input.DispatchMouseEvent, ev); err != nil {
		return err
	}
	if !d.started(ctx) {
		return nil
	}
	patient, cancel := context.WithTimeout(ctx, dragPatience)
	defer cancel()
	data, err := s.page.Dragged(patient)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // the drag that began has already ended
			return nil
		}
		return err
	}
	s.mu.Lock()
	d.data = data
	s.mu.Unlock()
	return s.dispatchDrag(ctx, input.DispatchDragEventTypeDragEnter, data, ev)
}

// dragEnd ends the drag of a pressed left button and drops the data.
func (s *inputState) dragEnd(ctx context.Context, d *drag, data *input.DragData, ev input.DispatchMouseEventParams) (err error) {
	if data != nil {
		err = s.dispatchDrag(ctx, input.DispatchDragEventTypeDrop, data, ev)
	}
	for _, w := range d.watches {
		_ = w.post("end") // if the frame is gone, its drag is over
	}
	return errors.Join(err, s.page.InterceptDrags(false))
}

// dragCancel ends a drag without a drop. cancelled reports whether there was one.
func (s *inputState) dragCancel(ctx context.Context) (cancelled bool, err error) {
	s.mu.Lock()
	d := s.drag
	if d == nil || d.data == nil {
		s.mu.Unlock()
		return false, nil
	}
	s.drag = nil
	ev := s.mouseEventLocked(input.DispatchMouseEventTypeMouseMoved, input.MouseButtonNone)
	s.mu.Unlock()
	err = s.dispatchDrag(ctx, input.DispatchDragEventTypeDragCancel, &input.DragData{Items: []*input.DragDataItem{}, DragOperationsMask: anyDragOperation}, ev)
	return true, errors.Join(err, s.dragEnd(ctx, d, nil, ev))
}

func (s *inputState) dispatchDrag(ctx context.Context, t input.DispatchDragEventType, data *input.DragData, ev input.DispatchMouseEventParams) error {
	_, err := browser.Call(ctx, s.page.Browser(), s.page.Session(), input.DispatchDragEvent, input.DispatchDragEventParams{
		Type: t, X: ev.X, Y: ev.Y, Data: data, Modifiers: ev.Modifiers,
	})
	return err
}

// watchDrags starts watching in all frames that answer in time.
func (s *inputState) watchDrags(ctx context.Context) []*layer {
	patient, cancel := context.WithTimeout(ctx, dragPatience)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex // guards watches
	var watches []*layer
	for _, f := range s.page.Frames() {
		all.Go(func() {
			w, err := f.World(patient, browser.WorldUtility)
			if err != nil {
				return
			}
			watch, err := s.client.automation.dragWatchOf(patient, w)
			if err != nil || watch.call(patient, "begin", nil) != nil {
				return
			}
			mu.Lock()
			watches = append(watches, watch)
			mu.Unlock()
		})
	}
	all.Wait()
	return watches
}

// started asks all frames whether a drag began.
func (d *drag) started(ctx context.Context) bool {
	patient, cancel := context.WithTimeout(ctx, dragPatience)
	defer cancel()
	answers := make(chan bool, len(d.watches))
	for _, w := range d.watches {
		go func() {
			var yes bool
			err := w.call(patient, "started", &yes)
			answers <- err == nil && yes
		}()
	}
	started := false
	for range d.watches {
		started = <-answers || started
	}
	return started
}
