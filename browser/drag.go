package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"
)

// InterceptDrags starts or stops intercepting drags, so that the page's drags do
// not reach the system. Dragged returns the dragged data, and
// Input.dispatchDragEvent continues the drag. InterceptDrags does not wait for
// Chromium.
func (p *Page) InterceptDrags(on bool) error {
	p.browser.mu.Lock()
	p.dragged = nil
	p.browser.mu.Unlock()
	// A map, because cdproto's type omits false.
	err := p.Session().Send(input.SetInterceptDrags.Method, map[string]bool{"enabled": on})
	if err != nil {
		return fmt.Errorf("intercept drags: %w", p.explain(err))
	}
	return nil
}

// Dragged waits for the dragged data, after InterceptDrags.
func (p *Page) Dragged(ctx context.Context) (*input.DragData, error) {
	var data *input.DragData
	err := p.browser.await(ctx, func() (bool, error) {
		data = p.dragged
		return data != nil, p.goneLocked()
	})
	return data, err
}

func (a *attachment) dragInterceptedLocked(e input.EventDragIntercepted) {
	a.page.dragged = e.Data
}
