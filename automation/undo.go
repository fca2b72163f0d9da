package automation

import (
	"context"
	"errors"
	"slices"

	"takeover/browser"
	"takeover/cdp"
)

// undoList is what a client changed of what outlives it, each with the way back.
type undoList struct {
	steps []undoStep
	known map[any]bool
}

type undoStep struct {
	name    string
	restore func(context.Context) error
}

// undo notes how to take back a change to a setting of pages or contexts that
// the client did not open; Close does it, newest first. key names the
// setting, comparable: of several changes of one setting only the first counts,
// since it knows what was there before. restore is to say nothing of what is
// gone meanwhile. Call it before the change is made.
func (c *Client) undo(bc *browser.Context, name string, key any, restore func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.own, bc) { // which ends with the client
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

// undoAll takes everything back.
func (l undoList) undoAll(a *Automation) {
	if len(l.steps) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.life), closeTimeout)
	defer cancel()
	for _, step := range slices.Backward(l.steps) {
		if err := step.restore(ctx); err != nil && !vanished(err) {
			a.log.Warn("take back a client's setting", "setting", step.name, "err", err)
		}
	}
}

// vanished says whether an error means that what was asked for is no more.
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
