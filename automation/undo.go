package automation

import (
	"context"
	"errors"
	"slices"

	"takeover/browser"
	"takeover/cdp"
)

// undoList holds a client's changes that would outlive it, each with a function
// that reverts it.
type undoList struct {
	steps []undoStep
	known map[any]bool
}

type undoStep struct {
	name    string
	restore func(context.Context) error
}

// undo records how to revert a change to a setting of pages or contexts that the
// client did not open. Close reverts the changes, newest first. key identifies
// the setting and must be comparable: only the first change of a setting is
// recorded, because it knows the original value. restore should return no error
// for anything that no longer exists. Call undo before making the change.
func (c *Client) undo(bc *browser.Context, name string, key any, restore func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.own, bc) { // the context ends with the client anyway
		return
	}
	type named struct {
		name string
		key  any
	}
	k := named{name, key}
	if c.undos.known[k] {
		return
	}
	if c.undos.known == nil {
		c.undos.known = map[any]bool{}
	}
	c.undos.known[k] = true
	c.undos.steps = append(c.undos.steps, undoStep{name, restore})
}

// undoAll reverts all changes.
func (l undoList) undoAll(a *Automation) {
	if len(l.steps) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.life), closeTimeout)
	defer cancel()
	for _, step := range slices.Backward(l.steps) {
		if err := step.restore(ctx); err != nil && !vanished(err) {
			a.log.Warn("take back a client's setting", "setting", step.name, "error", err)
		}
	}
}

// vanished reports whether an error means that the object of a command no longer
// exists.
func vanished(err error) bool {
	for _, known := range []error{
		browser.ErrBrowserClosed, browser.ErrContextClosed, browser.ErrPageClosed, browser.ErrPageCrashed, cdp.ErrClosed, cdp.ErrDetached,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
