package automation

import (
	"encoding/json"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// changes lists the methods of the page side that change the page when the
// element is ready. If the element was not ready at once, such a method asks the
// server before it changes the page.
var changes = map[string]bool{
	"fill": true, "selectText": true, "selectOption": true, "focus": true, "blur": true, "dispatch": true, "setInputFiles": true, "fileInput": true, "drop": true, "scrollIntoView": true, "aim": true,
}

// retry runs an operation on a target until the page reports a result, also
// across navigations and in frames that come and go. If the time runs out, retry
// returns an error, and the page's last report as the value.
func (c *Client) retry(p *progress, t *target, method string, params callParams) (*searchRoot, json.RawMessage, error) {
	return c.retryIn(p, t, browser.WorldUtility, method, &params, nil)
}

// retryIn does the same as retry, in a given kind of world. objects makes the
// objects that the operation needs in each place where it looks for the target;
// it may also complete params.
func (c *Client) retryIn(p *progress, t *target, kind browser.Kind, method string, params *callParams,
	objects func(*searchRoot) ([]runtime.RemoteObjectID, error)) (*searchRoot, json.RawMessage, error) {
	r := &retrying{client: c, p: p, target: t, kind: kind, method: method, params: params, objects: objects}
	pauses := 0 // pauses in a row
	for n := 0; ; n++ {
		if _, ok := p.attemptTime(n); !ok {
			return nil, r.last, r.expire()
		}
		pl, value, next, err := r.attempt(n)
		switch {
		case err != nil:
			return nil, value, err
		case next == finished:
			return pl, value, nil
		case next == atOnce:
			pauses = 0
			continue
		}
		pauses++
		if err := p.sleep(pauses); err != nil {
			return nil, r.last, err
		}
	}
}

// retrying is a running operation on a target.
type retrying struct {
	client  *Client
	p       *progress
	target  *target
	kind    browser.Kind
	method  string
	params  *callParams
	objects func(*searchRoot) ([]runtime.RemoteObjectID, error) // nil for none

	quiet    bool            // the log already says what the operation waits for
	refusals int             // refusals by Chromium
	last     json.RawMessage // the page's report when the time ran out
}

// verdict says what follows an attempt that ended without an error.
type verdict int

const (
	finished   verdict = iota // the page reported a result
	atOnce                    // try again at once
	afterPause                // try again after a pause
)

// attempt finds the target and asks the page once. If err is set, value is the
// page's last report.
func (r *retrying) attempt(n int) (pl *searchRoot, value json.RawMessage, next verdict, err error) {
	c, p := r.client, r.p
	pl, err = c.resolve(p, r.target, r.kind)
	switch {
	case err != nil:
		return r.failed(err)
	case pl == nil && p.absent:
		return nil, nil, finished, nil
	case pl == nil: // a frame that leads to the element does not exist
		r.announce()
		r.last = nil
		return nil, nil, afterPause, nil
	}
	if changes[r.method] {
		waited, err := p.awaitControl()
		if err != nil {
			return nil, nil, finished, err
		}
		if waited { // the person may have changed everything
			return nil, nil, atOnce, nil
		}
	}
	handlers := c.guards(pl.frame.Page(), r.method, r.params)
	pl.watched = len(handlers) > 0
	if err := c.clear(p, handlers, r.announce); err != nil {
		return nil, r.last, finished, err
	}
	left, ok := p.attemptTime(n)
	if !ok {
		return nil, r.last, finished, r.expire()
	}
	got, err := r.call(pl, left)
	r.params.Resumed = nil
	p.log = append(p.log, got.Log...)
	r.quiet = r.quiet || len(got.Log) > 0
	switch {
	case err != nil:
		return r.failed(err)
	case got.Error != "":
		return nil, nil, finished, &Error{Name: nameError, Message: got.Error}
	case got.Ready:
		r.params.Resumed = &got.Attempt
		return nil, nil, atOnce, nil
	case got.Expired && !pl.framed && !pl.watched:
		return nil, got.Value, finished, p.expired()
	case got.Expired: // look up the frame again
		r.last = got.Value
		return nil, nil, atOnce, nil
	}
	return pl, got.Value, finished, nil
}

// call calls the page side.
func (r *retrying) call(pl *searchRoot, left float64) (reply, error) {
	objects := []runtime.RemoteObjectID{pl.scope}
	if r.objects != nil {
		more, err := r.objects(pl)
		if err != nil {
			return reply{}, err
		}
		objects = append(objects, more...)
	}
	params := *r.params
	params.search, params.Timeout, params.Quiet = pl.search, left, r.quiet
	if (pl.framed || pl.watched) && (left == 0 || left > frameSlice) {
		params.Timeout = frameSlice
	}
	got, err := pl.layer.run(r.p, r.method, &params, objects...)
	pl.task = params.Task
	return got, err
}

// failed decides whether an error ends the operation.
func (r *retrying) failed(err error) (*searchRoot, json.RawMessage, verdict, error) {
	r.params.Resumed = nil
	if refused(err) {
		r.refusals++
	}
	err = r.client.reason(err, r.target, r.method)
	if r.refusals <= maxRefusals && (retriable(err) || r.client.innerGone(err, r.target) || r.client.mayRevive(err, r.target.Frame)) {
		return nil, nil, afterPause, nil
	}
	r.client.announceUnsaid(r.p, r.target, r.method, r.params)
	return nil, nil, finished, err
}

// announce logs once what the operation waits for.
func (r *retrying) announce() { r.quiet = r.client.announce(r.p, r.target, r.quiet) }

// expire returns the error for an operation whose time is up.
func (r *retrying) expire() error {
	r.client.announceUnsaid(r.p, r.target, r.method, r.params)
	return r.p.expired()
}
