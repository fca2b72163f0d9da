package mcp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// errReplaced is why the calls of a client end that made room for another.
var errReplaced = errors.New("this client was forgotten to make room for another: initialize again")

// clients are the clients of protocol versions before 2026-07-28, which the server
// has to remember. Each belongs to the caller who made it.
type clients struct {
	work sync.WaitGroup // one goroutine per client, which waits for its end

	mu    sync.Mutex // guards what follows
	known map[string]*remembered
	held  map[string]int // by caller: the clients, and the requests that may make one
	total int            // the sum of held
}

// remembered is one client.
type remembered struct {
	caller  string
	session *sdk.ServerSession
	ctx     context.Context // of its calls; ended when the client is forgotten
	forget  context.CancelCauseFunc
	busy    int       // messages under way
	used    time.Time // when the last message began or ended
}

// newcomer is the room for a client that a request may make.
type newcomer struct {
	caller string
	taken  bool // a client has it now
}

type newcomerKey struct{}

// admit makes room for a client of a caller. When the server is full, the caller with
// the most clients loses the one that is idle longest. It returns nil if there is no
// room, because requests that make clients have taken it all; dropped says that a client
// had to go.
func (c *clients) admit(caller string) (room *newcomer, dropped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total >= maxClients {
		idlest := c.idlest(c.largest(caller))
		if idlest == nil {
			return nil, false
		}
		dropped = true
		c.remove(idlest)
		c.work.Go(func() { _ = idlest.session.Close() }) // waits for its calls, which end now
	}
	if c.held == nil {
		c.known, c.held = map[string]*remembered{}, map[string]int{}
	}
	c.held[caller]++
	c.total++
	return &newcomer{caller: caller}, dropped
}

// largest returns the caller with the most clients if one more is added for a caller.
// Of those with as many, it prefers that caller. c.mu is held.
func (c *clients) largest(caller string) string {
	most := c.held[caller] + 1
	for other, n := range c.held {
		if n > most {
			caller, most = other, n
		}
	}
	return caller
}

// idlest returns the client of a caller that is idle longest. Clients that are at work
// come last. c.mu is held.
func (c *clients) idlest(caller string) *remembered {
	var found *remembered
	for _, one := range c.known {
		if one.caller != caller {
			continue
		}
		if found == nil || one.busy == 0 && found.busy > 0 || (one.busy == 0) == (found.busy == 0) && one.used.Before(found.used) {
			found = one
		}
	}
	return found
}

// leave gives back the room of a request that has made no client.
func (c *clients) leave(room *newcomer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !room.taken {
		c.release(room.caller)
	}
}

// release counts one client of a caller less. c.mu is held.
func (c *clients) release(caller string) {
	c.total--
	if c.held[caller]--; c.held[caller] == 0 {
		delete(c.held, caller)
	}
}

// remember keeps a client that a request makes, in its room, until the client ends.
func (c *clients) remember(room *newcomer, session *sdk.ServerSession) {
	one := &remembered{caller: room.caller, session: session, used: time.Now()}
	one.ctx, one.forget = context.WithCancelCause(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if room.taken {
		return // initialized twice
	}
	room.taken = true
	c.known[session.ID()] = one
	c.work.Go(func() {
		_ = session.Wait() // how it ended does not matter
		c.mu.Lock()
		defer c.mu.Unlock()
		c.remove(one)
	})
}

// remove forgets a client. c.mu is held.
func (c *clients) remove(one *remembered) {
	if c.known[one.session.ID()] == one {
		delete(c.known, one.session.ID())
		c.release(one.caller)
	}
	one.forget(errReplaced) // has no effect on calls that have ended
}

// use records that a caller sends a message to a client, until done is called. It returns
// false if the caller has no such client.
func (c *clients) use(caller, id string) (done func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.known[id]
	if one == nil || one.caller != caller {
		return nil, false
	}
	one.busy++
	one.used = time.Now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		one.busy--
		one.used = time.Now()
	}, true
}

// receive is a middleware of servers: it remembers clients when they say hello, and ends
// their calls when they are forgotten.
func (c *clients) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		session, ok := req.GetSession().(*sdk.ServerSession)
		if !ok || session.ID() == "" {
			return next(ctx, method, req) // of the newest version
		}
		if room, ok := ctx.Value(newcomerKey{}).(*newcomer); ok && method == "initialize" {
			c.remember(room, session)
		}
		c.mu.Lock()
		one := c.known[session.ID()]
		c.mu.Unlock()
		if one == nil {
			return next(ctx, method, req)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(one.ctx, func() { cancel(context.Cause(one.ctx)) })()
		return next(ctx, method, req)
	}
}

// serveClient serves a request of a client of an earlier version.
func (d *Door) serveClient(w http.ResponseWriter, r *http.Request) {
	caller := callerOf(r.Context()).Key
	id := r.Header.Get(ClientHeader)
	switch {
	case id != "":
		done, ok := d.clients.use(caller, id)
		if !ok {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		if r.Method != http.MethodPost {
			done() // a stream that stays open is no work
		} else {
			defer done()
		}
	case r.Method == http.MethodPost:
		room := d.admit(w, caller)
		if room == nil {
			return
		}
		defer d.clients.leave(room)
		r = r.WithContext(context.WithValue(r.Context(), newcomerKey{}, room))
	}
	d.stateful.ServeHTTP(w, r)
}
