package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/chromedp/cdproto/target"
)

// SessionID names a CDP session: the attachment of one client to one target. The
// empty id is the connection's own root session.
type SessionID string

// Conn is one connection to a browser. All methods may be called from any
// goroutine.
type Conn struct {
	transport Transport
	try       tryWriter // the transport, if it has TryWrite
	nextID    atomic.Int64
	root      *Client
	shooting  turns         // by page
	done      chan struct{} // closed when both loops ended
	wake      chan struct{} // one token: something is in outgoing

	mu       sync.Mutex // guards what follows; never held across I/O
	err      error      // why the connection ended
	ending   bool
	pending  map[int64]*call
	sessions map[SessionID]*route
	writing  bool // a goroutine is writing; no other may write until it has cleared this
	left     bool // TryWrite left part of a message
	outgoing [][]byte
	queued   int           // bytes in outgoing
	drained  chan struct{} // closed when outgoing was taken; nil if nobody waits for that
}

// call is a command that waits for its reply.
type call struct {
	session SessionID
	reply   chan reply // the waiting caller receives here; buffered, so that the read loop never blocks
	posted  *posted    // used instead of reply: the client's sink gets the reply
}

// posted is a command of Session.Post, whose reply becomes an Event.
type posted struct {
	client *Client
	method string
	token  any
}

// finish delivers the reply. It is called by the read loop, or by the goroutine
// that ends the connection or the client. Neither may hold the connection's lock.
func (cl *call) finish(r reply) {
	if cl.posted == nil {
		cl.reply <- r
		return
	}
	cl.posted.client.put(Event{
		Session: cl.session,
		Method:  cl.posted.method,
		Params:  r.result,
		Token:   cl.posted.token,
		Err:     r.err,
	})
}

type reply struct {
	result json.RawMessage
	err    error
}

// route says which client owns a session, and to which session it was attached.
type route struct {
	client *Client
	parent SessionID
}

// NewConn starts the two loops of a connection over t. The connection owns t.
// End it with Close.
func NewConn(t Transport) *Conn {
	c := &Conn{
		transport: t,
		done:      make(chan struct{}),
		wake:      make(chan struct{}, 1),
		pending:   map[int64]*call{},
		sessions:  map[SessionID]*route{},
	}
	c.try, _ = t.(tryWriter)
	c.root = &Client{conn: c, sink: discard{}}
	c.sessions[""] = &route{client: c.root}
	var loops sync.WaitGroup
	stop := make(chan struct{})
	loops.Go(func() {
		c.end(c.readLoop())
		close(stop)
	})
	loops.Go(func() { c.writeLoop(stop) })
	go func() {
		loops.Wait()
		close(c.done)
	}()
	return c
}

// Done returns a channel that is closed when the connection and its goroutines
// have ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended, or nil while it is open. The error wraps
// ErrClosed.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection: running calls return ErrClosed, and every client's
// sink is closed. It returns when the connection's goroutines have ended.
func (c *Conn) Close() error {
	c.end(nil)
	<-c.done
	return nil
}

// Root returns the connection's own session, which needs no call to NewClient.
// Its events are discarded.
func (c *Conn) Root() *Session { return &Session{client: c.root} }

// end marks the connection as ended, closes the transport and answers every
// waiting call. Only the first call has an effect.
func (c *Conn) end(reason error) {
	c.mu.Lock()
	if c.ending {
		c.mu.Unlock()
		return
	}
	c.ending = true
	c.err = ErrClosed
	if reason != nil && !errors.Is(reason, io.EOF) {
		c.err = fmt.Errorf("%w: %w", ErrClosed, reason)
	}
	err := c.err
	pending := c.pending
	c.pending = nil
	clients := map[*Client]struct{}{}
	for _, r := range c.sessions {
		clients[r.client] = struct{}{}
	}
	c.sessions = nil
	c.outgoing, c.queued = nil, 0
	c.mu.Unlock()

	_ = c.transport.Close() // err already says why the connection ended
	for _, call := range pending {
		call.finish(reply{err: err})
	}
	for client := range clients {
		client.closeSink()
	}
}

func (c *Conn) readLoop() error {
	for {
		msg, err := c.transport.Read()
		if err != nil {
			return err
		}
		env, err := parseEnvelope(msg)
		switch {
		case err != nil:
			return err
		case env.id != 0:
			c.answer(env)
		case len(env.method) > 0:
			c.dispatch(env)
		}
	}
}

// answer passes a reply to the caller that waits for it. Commands sent with Send
// have no such caller.
func (c *Conn) answer(env envelope) {
	c.mu.Lock()
	call := c.pending[env.id]
	delete(c.pending, env.id)
	c.mu.Unlock()
	if call == nil {
		return
	}
	if env.err != nil {
		e := &Error{}
		if err := json.Unmarshal(env.err, e); err != nil {
			e.Message = string(env.err)
		}
		if call.posted != nil {
			e.Method = call.posted.method
		}
		call.finish(reply{err: e})
		return
	}
	call.finish(reply{result: append(json.RawMessage(nil), env.result...)})
}

// dispatch passes an event to the sink of its session's client. It also tracks
// attaching and detaching, so that a session's first event already finds its
// client.
func (c *Conn) dispatch(env envelope) {
	ev := newEvent(env)
	var failed []*call
	c.mu.Lock()
	r := c.sessions[ev.Session]
	if r != nil {
		switch ev.Method {
		case target.AttachedToTarget.Method:
			if id := sessionIDOf(ev.Params); id != "" {
				c.sessions[id] = &route{client: r.client, parent: ev.Session}
			}
		case target.DetachedFromTarget.Method:
			failed = c.forgetLocked(sessionIDOf(ev.Params))
		}
	}
	c.mu.Unlock()
	if r != nil {
		r.client.put(ev)
	} else {
		ev.Release()
	}
	// After the event, so that its receiver learns that the session is gone
	// before commands of that session fail.
	for _, call := range failed {
		call.finish(reply{err: ErrDetached})
	}
}

// forgetLocked removes a session and all sessions attached below it, and returns
// the calls that will never be answered.
func (c *Conn) forgetLocked(id SessionID) (failed []*call) {
	if id == "" || c.sessions[id] == nil {
		return nil
	}
	delete(c.sessions, id)
	for n, call := range c.pending {
		if call.session == id {
			delete(c.pending, n)
			failed = append(failed, call)
		}
	}
	for child, r := range c.sessions {
		if r.parent == id && child != "" {
			failed = append(failed, c.forgetLocked(child)...)
		}
	}
	return failed
}

func sessionIDOf(params []byte) SessionID {
	var p struct {
		SessionID SessionID `json:"sessionId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return p.SessionID
}

// call sends a command and waits for its reply, undecoded.
func (c *Conn) call(ctx context.Context, id SessionID, method string, params any) (json.RawMessage, error) {
	waiting := &call{session: id, reply: make(chan reply, 1)}
	n, err := c.send(id, method, params, waiting)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case r := <-waiting.reply:
		if r.err == nil {
			return r.result, nil
		}
		if e, ok := r.err.(*Error); ok { //nolint:errorlint // answer made it, unwrapped
			e.Method = method
			return nil, e
		}
		return nil, fmt.Errorf("%s: %w", method, r.err)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, n)
		c.mu.Unlock()
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}
