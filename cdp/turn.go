package cdp

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// longestTurn bounds how long one caller keeps others from a turn. Chromium may never answer.
	longestTurn = 10 * time.Second
	// unanswered is how long a turn goes on after a caller that no longer waits for Chromium's
	// answer, because Chromium may still be at it.
	unanswered = time.Second
)

// turns let the clients of a connection do what only one may do at a time. The zero value is
// ready.
type turns struct {
	mu     sync.Mutex // guards what follows
	byName map[string]*turn
}

// turn is what callers hold one after another.
type turn struct {
	free  chan struct{} // one token: nobody holds it
	users int           // who hold it or wait for it
}

// take waits until nobody else holds the name. done ends the turn; it is given the error of the
// call that was made in it. The error is ctx's cause.
func (t *turns) take(ctx context.Context, name string) (done func(error), err error) {
	one := t.enter(name)
	select {
	case <-one.free:
		return t.held(name, one), nil
	case <-ctx.Done():
		t.leave(name, one)
		return nil, context.Cause(ctx)
	}
}

// tryTake takes the name if nobody holds it.
func (t *turns) tryTake(name string) (done func(error), ok bool) {
	one := t.enter(name)
	select {
	case <-one.free:
		return t.held(name, one), true
	default:
		t.leave(name, one)
		return nil, false
	}
}

// held returns what ends a turn, at the latest after longestTurn.
func (t *turns) held(name string, one *turn) (done func(error)) {
	end := sync.OnceFunc(func() {
		one.free <- struct{}{}
		t.leave(name, one)
	})
	late := time.AfterFunc(longestTurn, end)
	return func(err error) {
		_, refused := errors.AsType[*Error](err)
		if err == nil || refused || errors.Is(err, ErrDetached) || errors.Is(err, ErrClosed) {
			late.Stop()
			end()
		} else if late.Stop() {
			late.Reset(unanswered)
		}
	}
}

func (t *turns) enter(name string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName = map[string]*turn{}
	}
	one := t.byName[name]
	if one == nil {
		one = &turn{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		t.byName[name] = one
	}
	one.users++
	return one
}

func (t *turns) leave(name string, one *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(t.byName, name)
	}
}

// Shooting waits until no client of the connection takes a picture of a page, which is given by
// its target id, and keeps others from it until done is called with the error of the call, or
// longestTurn is over. If Chromium has not answered, it keeps them a second longer. Chromium 156
// leaves a page in a wrong size after two pictures at once, of which one is enlarged. Then what
// people press is not what they see. The error is ctx's cause.
func (cl *Client) Shooting(ctx context.Context, page string) (done func(error), err error) {
	return cl.conn.shooting.take(ctx, page)
}

// TryShooting is Shooting for a caller that does not wait: ok is false while others take a picture.
func (cl *Client) TryShooting(page string) (done func(error), ok bool) {
	return cl.conn.shooting.tryTake(page)
}
