package automation

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"takeover/browser"
)

// clockOperations are the operations of this file.
var clockOperations = table{
	// {context, method: "install"|"fastForward"|"runFor"|"pauseAt"|"resume"|"setFixedTime"|"setSystemTime", value in ms}
	"clock": op(true, opClock),
}

// clockMethods are the methods of Playwright's clock in the page, which fakes the
// time in all pages of a context. Each takes milliseconds or nothing.
var clockMethods = map[string]bool{
	"install": true, "fastForward": true, "runFor": true, "pauseAt": true, "resume": true, "setFixedTime": true, "setSystemTime": true,
}

type clockParams struct {
	Context string   `json:"context"`
	Method  string   `json:"method"`
	Value   *float64 `json:"value"` // milliseconds; absent means the present time
}

// opClock changes the time of a context's pages. Later documents replay all
// changes at their original times, and so arrive at the same time.
func opClock(ctx context.Context, c *Client, p *clockParams) (any, error) {
	if !clockMethods[p.Method] {
		return nil, errorf("the clock cannot %q", p.Method)
	}
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	where := &scriptTarget{Context: p.Context}
	if err := c.installClock(ctx, where, bc); err != nil {
		return nil, err
	}
	now := time.Now().UnixMilli()
	value := strconv.FormatInt(now, 10)
	if p.Value != nil {
		value = milliseconds(*p.Value)
	}
	entry := "globalThis.__pwClock.controller.log(" + literal(p.Method) + "," + strconv.FormatInt(now, 10) + "," + value + ")"
	if _, err := c.addScript(ctx, where, browser.InitScriptOptions{Source: entry}); err != nil {
		return nil, err
	}
	return emptyJSON, c.inEveryDocument(ctx, bc, "async()=>{await globalThis.__pwClock?.controller."+p.Method+"("+value+")}")
}

// installClock adds the clock to a context's documents if it is missing.
func (c *Client) installClock(ctx context.Context, where *scriptTarget, bc *browser.Context) error {
	if c.hooks.fakeTime(bc) {
		return nil
	}
	s, err := scripts()
	if err != nil {
		return err
	}
	c.undo(bc, "clock", bc, func(ctx context.Context) error {
		return c.inEveryDocument(ctx, bc, "()=>{globalThis.__pwClock?.controller.uninstall();delete globalThis.__pwClock}")
	})
	// Playwright's injected script finds the real time under this name.
	source := "(()=>{if(globalThis.__pwClock)return;const module={exports:{}};{" + s.clock + "}\n" +
		"Object.defineProperty(globalThis,'__pwClock',{value:(module.exports.inject())(globalThis,'chromium'),configurable:true})})()"
	_, err = c.addScript(ctx, where, browser.InitScriptOptions{Source: source, Now: true})
	return err
}

// inEveryDocument calls a function in all documents of a context that can answer
// now. The others get their changes when they load. The error comes from one of
// the pages.
func (c *Client) inEveryDocument(ctx context.Context, bc *browser.Context, function string) error {
	var wg sync.WaitGroup
	var mu sync.Mutex // guards failed
	var failed error
	for _, p := range bc.Pages() {
		for _, f := range p.Frames() {
			w := f.CurrentWorld(browser.WorldMain)
			if w == nil {
				continue
			}
			wg.Go(func() {
				_, err := w.Call(ctx, browser.CallOptions{Function: function, AwaitPromise: true})
				if _, thrown := errors.AsType[*browser.ScriptError](err); thrown || ctx.Err() != nil {
					mu.Lock()
					defer mu.Unlock()
					failed = err
				}
			})
		}
	}
	wg.Wait()
	return failed
}
