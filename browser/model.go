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

// Tokens of queue entries that are not events.
type (
	// replyToken changes the model when the reply to a posted command arrives, or
	// when a timer fires. It runs in a turn and holds the lock.
	replyToken func(ev cdp.Event)

	// callToken carries a reply to a waiting caller. Its channel is buffered.
	callToken chan cdp.Event

	// doToken runs between two turns, without the lock.
	doToken func()
)

// run is the main function of the model's goroutine.
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

// turn changes the model and sends the events of the change. Goroutines that wait
// for a state continue only after the events were sent.
func (b *Browser) turn(change func()) {
	b.mu.Lock()
	change()
	events, signals, subscriptions := b.events, b.signals, b.subscriptions
	b.events, b.signals = nil, nil
	b.telling = len(events) > 0
	if !b.telling {
		b.wakeLocked(signals)
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
	b.wakeLocked(signals)
	b.mu.Unlock()
}

// wakeLocked wakes the goroutines that wait for the changes of a turn.
func (b *Browser) wakeLocked(signals []chan struct{}) {
	for _, s := range signals {
		close(s)
	}
	b.changed.notifyLocked()
}

// signalLocked closes ch at the end of the turn, after the turn's events were
// sent, so that waiting goroutines do not run ahead of subscribers.
func (b *Browser) signalLocked(ch chan struct{}) { b.signals = append(b.signals, ch) }

// endLocked ends the model, and with it all waiting.
func (b *Browser) endLocked() {
	b.closed = true
	for _, p := range slices.Clone(b.pages) {
		b.closePageLocked(p)
	}
}

// tellLocked adds an event to the current turn.
func (b *Browser) tellLocked(e Event) { b.events = append(b.events, e) }

type subscription struct {
	fn        func(Event)
	cancelled atomic.Bool
}

// Subscribe calls fn for every event from now on, in order, on the model's
// goroutine, so fn must not wait for the model. Any goroutine may call cancel.
// When cancel returns, one last call of fn may still be running or about to begin;
// after that call, fn is not called again.
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

// Do runs fn on the model's goroutine, between two events, and returns when fn
// has run. The model does not change within fn. Before that, subscribers get all
// events that were received so far. fn must not wait for the model. If Do returns
// an error (ErrBrowserClosed or the cause of ctx), fn has not run and will not
// run.
func (b *Browser) Do(ctx context.Context, fn func()) error {
	var taken atomic.Bool // set by the model, or by a caller that gives up, whichever comes first
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

// await waits until ready returns true or an error. It calls ready with the lock,
// and never between a change and its events.
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

// lockTold locks the model once the events of all earlier changes were sent. The
// model's own goroutine must not call it.
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

// broadcast wakes all goroutines that wait for the next change.
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

// Call does what cdp.Call does, for a session of the model. It returns only after the
// model has handled everything that Chromium sent before the reply, and
// subscribers got the events. So a navigation that the command caused and
// Chromium reported before the reply is known by then. Besides the errors of
// cdp.Call it returns ErrPageCrashed and ErrBrowserClosed; cdp.ErrDetached means
// that the page or the frame is gone.
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

// call posts a command and waits for its reply. It does not wait for a dead
// renderer, because Chromium would answer only after the page is loaded again.
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

// callUnless posts a command and waits for its reply. When gone is closed first,
// it returns goneErr.
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

// followRenderer returns when Chromium's browser process has handled everything
// that the session's renderer has sent so far. This works because the reply comes
// from the renderer and arrives after that.
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
		// The model may be about to learn of the end; wait until it has.
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
	case ev := <-reply: // both were ready, and the reply came first
		return ev.Params, explain(ev.Err)
	default:
		return nil, fmt.Errorf("%s: %w", method, err)
	}
}

// explain adds ErrBrowserClosed to the error of a lost connection.
func explain(err error) error {
	if errors.Is(err, cdp.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrBrowserClosed, err)
	}
	return err
}

// post sends a command without waiting. When the reply arrives, in its place among
// the events, then runs in a turn and may change the model.
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

// later runs change in a turn of its own. Timers call it.
func (b *Browser) later(change func()) {
	b.queue.Put(cdp.Event{Token: replyToken(func(cdp.Event) { change() })})
}
