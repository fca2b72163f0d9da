package automation

import (
	"encoding/json"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// changes are the methods of the page's side that change the page when the
// element is ready. One that had to wait for that asks before it does.
var changes = map[string]bool{
	"fill": true, "selectText": true, "selectOption": true, "focus": true, "blur": true, "dispatch": true, "setInputFiles": true, "fileInput": true, "drop": true, "scrollIntoView": true, "aim": true,
}

// retry runs an operation on a target until the page says how it went: across
// navigations, and through frames that come and go. With an error because its time
// is over it gives how things stood, if the page said so.
func (c *Client) retry(p *progress, t *target, method string, params callParams) (*place, json.RawMessage, error) {
	return c.retryIn(p, t, browser.WorldUtility, method, &params, nil)
}

// retryIn is retry in a kind of world, with objects that are made for each place
// where the target is looked for. objects may complete params.
func (c *Client) retryIn(p *progress, t *target, kind browser.Kind, method string, params *callParams,
	objects func(*place) ([]runtime.RemoteObjectID, error)) (*place, json.RawMessage, error) {
	r := &retrying{client: c, p: p, target: t, kind: kind, method: method, params: params, objects: objects}
	pauses := 0 // one after the other
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

// retrying is an operation on a target under way.
type retrying struct {
	client  *Client
	p       *progress
	target  *target
	kind    browser.Kind
	method  string
	params  *callParams
	objects func(*place) ([]runtime.RemoteObjectID, error) // nil for none

	quiet    bool            // the log already says what is waited for
	refusals int             // by Chromium
	last     json.RawMessage // how things stood when the page's time was over
}

// verdict is what follows an attempt that gave no error.
type verdict int

const (
	finished   verdict = iota // the page said how it went
	atOnce                    // another attempt
	afterPause                // another attempt, later
)

// attempt finds the target and asks the page once. With an error, value is how
// things stood.
func (r *retrying) attempt(n int) (pl *place, value json.RawMessage, next verdict, err error) {
	c, p := r.client, r.p
	pl, err = c.resolve(p, r.target, r.kind)
	switch {
	case err != nil:
		return r.failed(err)
	case pl == nil && p.absent:
		return nil, nil, finished, nil
	case pl == nil: // a frame on the way is not there
		r.announce()
		r.last = nil
		return nil, nil, afterPause, nil
	}
	if changes[r.method] {
		waited, err := p.gate()
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
	case got.Expired: // the frame is looked up again
		r.last = got.Value
		return nil, nil, atOnce, nil
	}
	return pl, got.Value, finished, nil
}

// call calls the page's side.
func (r *retrying) call(pl *place, left float64) (reply, error) {
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
func (r *retrying) failed(err error) (*place, json.RawMessage, verdict, error) {
	r.params.Resumed = nil
	if refused(err) {
		r.refusals++
	}
	err = r.client.reason(err, r.target, r.method)
	if r.refusals <= maxRefusals && (retriable(err) || r.client.innerGone(err, r.target)) {
		return nil, nil, afterPause, nil
	}
	r.client.announceUnsaid(r.p, r.target, r.method, r.params)
	return nil, nil, finished, err
}

// announce logs once what is waited for.
func (r *retrying) announce() { r.quiet = r.client.announce(r.p, r.target, r.quiet) }

// expire gives the error of an operation whose time is over.
func (r *retrying) expire() error {
	r.client.announceUnsaid(r.p, r.target, r.method, r.params)
	return r.p.expired()
}
