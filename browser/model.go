package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// Tokens of what comes through the queue besides events.
type (
	// replyToken changes the model by the reply to a posted command, or after a
	// timer. It runs in a turn, with the lock.
	replyToken func(ev cdp.Event)

	// callToken is a reply that somebody waits for. Its channel is buffered.
	callToken chan cdp.Event

	// doToken runs between two turns, without the lock.
	doToken func()
)

// run is the model's goroutine.
func (b *Browser) run() {
	defer close(b.done)
	for {
		ev, err := b.queue.Next(context.Background())
		if err != nil {
			b.turn(b.endLocked)
			return
		}
		switch token := ev.Token.(type) {
		case nil:
			b.turn(func() { b.handleLocked(ev) })
		case replyToken:
			b.turn(func() { token(ev) })
		case callToken:
			token <- ev
		case doToken:
			token()
		}
	}
}

// turn changes the model and tells what happened. Nobody who waits for a state
// sees the change before it was told.
func (b *Browser) turn(change func()) {
	b.mu.Lock()
	change()
	events, signals, subscriptions := b.events, b.signals, b.subscriptions
	b.events, b.signals = nil, nil
	b.telling = len(events) > 0
	if !b.telling {
		b.settledLocked(signals)
	}
	b.mu.Unlock()
	if len(events) == 0 {
		return
	}
	for _, e := range events {
		if q, ok := e.(question); ok {
			q.ask()
			continue
		}
		for _, s := range subscriptions {
			if !s.cancelled.Load() {
				s.fn(e)
			}
		}
	}
	b.mu.Lock()
	b.telling = false
	b.settledLocked(signals)
	b.mu.Unlock()
}

// settledLocked lets go of those who wait for what a turn changed and told.
func (b *Browser) settledLocked(signals []chan struct{}) {
	for _, s := range signals {
		close(s)
	}
	b.changed.notifyLocked()
}

// signalLocked closes ch at the end of the turn, when its events were told: who
// waits for ch must not be ahead of the subscribers.
func (b *Browser) signalLocked(ch chan struct{}) { b.signals = append(b.signals, ch) }

// endLocked lets go of everybody who waits.
func (b *Browser) endLocked() {
	b.closed = true
	for _, p := range slices.Clone(b.pages) {
		b.closePageLocked(p)
	}
}

// tellLocked adds an event to those of the turn.
func (b *Browser) tellLocked(e Event) { b.events = append(b.events, e) }

type subscription struct {
	fn        func(Event)
	cancelled atomic.Bool
}

// Subscribe calls fn for every event from now on, one after the other, on the
// model's goroutine: fn must not wait for anything of the model. cancel may be
// called by anybody; fn is not called after it returned, except when it is
// called within fn or while fn runs.
func (b *Browser) Subscribe(fn func(Event)) (cancel func()) {
	s := &subscription{fn: fn}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscriptions = append(slices.Clip(b.subscriptions), s)
	return func() {
		s.cancelled.Store(true)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.subscriptions = slices.DeleteFunc(slices.Clone(b.subscriptions), func(o *subscription) bool { return o == s })
	}
}

// Do runs fn on the model's goroutine, between two events, and returns when it
// has run: within fn the model does not change. It also is the way to know that
// everything received so far was told to the subscribers. fn must not wait for
// anything of the model. With an error, which is ErrBrowserClosed or ctx's
// cause, fn has not run and will not.
func (b *Browser) Do(ctx context.Context, fn func()) error {
	var taken atomic.Bool // by whom first: the model, or the caller who gave up
	ran := make(chan struct{})
	b.queue.Put(cdp.Event{Token: doToken(func() {
		if taken.CompareAndSwap(false, true) {
			fn()
			close(ran)
		}
	})})
	err := ErrBrowserClosed
	select {
	case <-ran:
		return nil
	case <-b.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if taken.CompareAndSwap(false, true) {
		return err
	}
	<-ran
	return nil
}

// await waits until ready says yes or returns an error. ready is called with the
// lock, and never between a change and its telling.
func (b *Browser) await(ctx context.Context, ready func() (bool, error)) error {
	for {
		b.mu.Lock()
		if !b.telling {
			if ok, err := ready(); ok || err != nil {
				b.mu.Unlock()
				return err
			}
			if b.closed {
				b.mu.Unlock()
				return ErrBrowserClosed
			}
		}
		changed := b.changed.waitLocked()
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lockTold locks the model when all that changed was told. Unlike the lock alone
// it is not for the model's goroutine.
func (b *Browser) lockTold() {
	for {
		b.mu.Lock()
		if !b.telling {
			return
		}
		changed := b.changed.waitLocked()
		b.mu.Unlock()
		<-changed
	}
}

// broadcast wakes everybody who waits for the next change.
type broadcast struct{ ch chan struct{} }

func (c *broadcast) waitLocked() <-chan struct{} {
	if c.ch == nil {
		c.ch = make(chan struct{})
	}
	return c.ch
}

func (c *broadcast) notifyLocked() {
	if c.ch != nil {
		close(c.ch)
		c.ch = nil
	}
}

// Call is cdp.Call for a session of the model, but returns only when the model
// has taken in, and told its subscribers, everything that Chromium sent before
// the reply. A navigation that the command caused and that Chromium told first
// is then known. Besides cdp.Call's errors it returns ErrPageCrashed and
// ErrBrowserClosed; cdp.ErrDetached says that the page or the frame is gone.
func Call[P, R any](ctx context.Context, b *Browser, s *cdp.Session, c proto.Command[P, R], params P) (R, error) {
	var res, zero R
	raw, err := b.call(ctx, s, c.Method, params)
	if err != nil {
		return zero, err
	}
	if err := jsonv2.Unmarshal(raw, &res, jsonv2.AllowInvalidUTF8(true)); err != nil {
		return zero, fmt.Errorf("%s: decode result: %w", c.Method, err)
	}
	return res, nil
}

// call posts a command and waits for its reply, but not when the session's
// renderer is dead: Chromium answers only after somebody reloads the page.
func (b *Browser) call(ctx context.Context, s *cdp.Session, method string, params any) ([]byte, error) {
	b.mu.Lock()
	a := b.attachments[s.ID()]
	var crashed <-chan struct{}
	if a != nil {
		crashed = a.crashed
	}
	b.mu.Unlock()
	return b.callUnless(ctx, s, method, params, crashed, ErrPageCrashed)
}

// callUnless posts a command and waits for its reply, or until gone is closed,
// which gives the error goneErr.
func (b *Browser) callUnless(
	ctx context.Context, s *cdp.Session, method string, params any, gone <-chan struct{}, goneErr error,
) ([]byte, error) {
	result, err := b.callOnce(ctx, s, method, params, gone, goneErr)
	if !isCommitting(err) {
		return result, err
	}
	if err := b.followRenderer(ctx, s, gone, goneErr); err != nil {
		return nil, err
	}
	return b.callOnce(ctx, s, method, params, gone, goneErr)
}

// followRenderer returns when Chromium's browser process has taken in all that
// the session's renderer has told so far: the reply that it waits for comes from
// there, behind that.
func (b *Browser) followRenderer(ctx context.Context, s *cdp.Session, gone <-chan struct{}, goneErr error) error {
	_, err := b.callOnce(ctx, s, runtime.Evaluate.Method, runtime.EvaluateParams{Expression: "0"}, gone, goneErr)
	if _, answered := errors.AsType[*cdp.Error](err); answered {
		return nil
	}
	return err
}

func (b *Browser) callOnce(
	ctx context.Context, s *cdp.Session, method string, params any, gone <-chan struct{}, goneErr error,
) ([]byte, error) {
	reply := make(callToken, 1)
	err := s.Post(method, params, reply)
	if errors.Is(err, cdp.ErrDetached) {
		// The model may be about to learn it; what it says afterwards is right.
		_ = b.await(ctx, func() (bool, error) { return b.attachments[s.ID()] == nil, nil })
	}
	if err != nil {
		return nil, explain(err)
	}
	select {
	case ev := <-reply:
		return ev.Params, explain(ev.Err)
	case <-gone:
		err = goneErr
	case <-b.done:
		err = ErrBrowserClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	select {
	case ev := <-reply: // it had come before, both were ready
		return ev.Params, explain(ev.Err)
	default:
		return nil, fmt.Errorf("%s: %w", method, err)
	}
}

// explain adds to the error of a lost connection what it means.
func explain(err error) error {
	if errors.Is(err, cdp.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrBrowserClosed, err)
	}
	return err
}

// post sends a command without waiting; then changes the model by its reply, in
// the reply's place among the events.
func post[P, R any](s *cdp.Session, c proto.Command[P, R], params P, then func(R, error)) error {
	return s.Post(c.Method, params, replyToken(func(ev cdp.Event) {
		var res R
		err := ev.Err
		if err == nil {
			err = jsonv2.Unmarshal(ev.Params, &res, jsonv2.AllowInvalidUTF8(true))
		}
		then(res, err)
	}))
}

// later runs change in a turn of its own. It is what timers call.
func (b *Browser) later(change func()) {
	b.queue.Put(cdp.Event{Token: replyToken(func(cdp.Event) { change() })})
}
