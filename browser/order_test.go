package browser_test

import (
	"sync/atomic"
	"testing"

	"takeover/browser"
)

// TestEndsAreToldFirst checks that callers who wait for an end continue only
// after subscribers were told about it.
func TestEndsAreToldFirst(t *testing.T) {
	b := attach(t)
	p := newPage(t, b)
	w, err := p.MainFrame().World(wait(t, "world"), browser.WorldUtility)
	must(t, err)
	isOpen := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return false
		default:
			return true
		}
	}
	var told, early atomic.Bool
	t.Cleanup(b.Subscribe(func(ev browser.Event) {
		if e, ok := ev.(browser.PageClosed); ok && e.Page == p {
			early.Store(!isOpen(p.Closed()) || !isOpen(w.Destroyed()))
			told.Store(true)
		}
	}))
	must(t, p.Close(wait(t, "close")))
	if !told.Load() {
		t.Error("Close returned before the end was told")
	}
	if early.Load() {
		t.Error("the page's end was shown before it was told")
	}
	if isOpen(p.Closed()) || isOpen(w.Destroyed()) {
		t.Error("the page's end is not shown")
	}
}
