package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// benchLink measures how soon a person who opens a takeover's link sees the
// remote page: in a new context, from the address to the first picture on the
// canvas.
func benchLink(ctx context.Context, e *env) (rows []row, err error) {
	id, err := e.server.create(ctx, e.page)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.server.release(ctx, id)) }()
	var times []time.Duration
	const warmUp = 1
	for i := range e.times(20) + warmUp {
		d, err := e.openLink(ctx, id)
		if err != nil {
			return nil, err
		}
		if i >= warmUp {
			times = append(times, d)
		}
	}
	return []row{{
		what: "takeover's link opened → picture drawn, p95", ours: percentile(times, 0.95), unit: "ms", target: atMost(1000),
		note: fmt.Sprintf("in a new context of a Chromium on the same machine; p50 %s ms", number(percentile(times, 0.5))),
	}}, nil
}

// openLink requests a takeover, opens its link and cancels it.
func (e *env) openLink(ctx context.Context, session string) (took time.Duration, err error) {
	path := "/v1/sessions/" + session + "/takeovers"
	var takeover struct{ ID, URL string }
	if err := e.server.call(ctx, http.MethodPost, path, map[string]any{"reason": "bench"}, &takeover); err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, e.server.call(ctx, http.MethodPost, path+"/"+takeover.ID+"/cancel", map[string]any{}, nil))
	}()
	leave, err := e.raw.visitor(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	start := time.Now()
	if err := e.raw.call(ctx, "Page.navigate", map[string]any{"url": takeover.URL}, nil); err != nil {
		return 0, err
	}
	for end := start.Add(startTimeout); time.Now().Before(end); {
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return 0, err
		}
		var drawn struct{ Result struct{ Value bool } }
		err := e.raw.call(ctx, "Runtime.evaluate", map[string]any{"expression": `document.querySelector('#takeover #skeleton')?.hidden === true`}, &drawn)
		if err == nil && drawn.Result.Value { // the call fails while one document replaces another
			return time.Since(start), nil
		}
	}
	return 0, errors.New("the link showed no picture")
}

// visitor opens a page in a context of its own and drives it, until leave is
// called.
func (c *rawChromium) visitor(ctx context.Context) (leave func() error, err error) {
	before := c.use("")
	defer func() {
		if err != nil {
			c.use(before)
		}
	}()
	var context struct{ BrowserContextID string }
	if err := c.call(ctx, "Target.createBrowserContext", map[string]any{}, &context); err != nil {
		return nil, err
	}
	var target struct{ TargetID string }
	if err := c.call(ctx, "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID, "width": width, "height": height}, &target); err != nil {
		return nil, err
	}
	var attached struct{ SessionID string }
	if err := c.call(ctx, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	c.use(attached.SessionID)
	return func() error {
		c.use("")
		defer c.use(before)
		return c.call(ctx, "Target.disposeBrowserContext", map[string]any{"browserContextId": context.BrowserContextID}, nil)
	}, nil
}

// use directs commands to another session and returns the previous one.
func (c *rawChromium) use(session string) (before string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.session = c.session, session
	return before
}
