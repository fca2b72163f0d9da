package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
)

// Client is one independent user of a connection: a browser session and all
// sessions attached under it. It enables domains and gets events independently of
// other clients. All methods may be called from any goroutine.
type Client struct {
	conn  *Conn
	id    SessionID // of its browser session; empty for the root client
	close sync.Once

	mu     sync.Mutex // serialises Put and Close of sink, neither of which blocks
	sink   Sink
	closed bool
}

// put passes an event to the sink, unless the sink is closed.
func (cl *Client) put(ev Event) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if cl.closed {
		ev.Release()
		return
	}
	cl.sink.Put(ev)
}

// closeSink closes the sink once, after its last event.
func (cl *Client) closeSink() {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if !cl.closed {
		cl.closed = true
		cl.sink.Close()
	}
}

// NewClient attaches a new client to the browser. Its events go to sink, which
// is closed with the client or the connection; nil discards them.
func (c *Conn) NewClient(ctx context.Context, sink Sink) (*Client, error) {
	if sink == nil {
		sink = discard{}
	}
	res, err := Call(ctx, c.Root(), target.AttachToBrowserTarget, proto.Empty{})
	if err != nil {
		return nil, fmt.Errorf("attach client: %w", err)
	}
	client := &Client{conn: c, sink: sink, id: SessionID(res.SessionID)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return nil, c.err
	}
	c.sessions[client.id] = &route{client: client}
	return client, nil
}

// Browser returns the client's session with the browser itself.
func (cl *Client) Browser() *Session { return cl.Session(cl.id) }

// Session returns a handle for one of the client's sessions, without checking
// that the session exists.
func (cl *Client) Session(id SessionID) *Session { return &Session{client: cl, id: id} }

// Attach attaches the client to a target and returns the flat session.
func (cl *Client) Attach(ctx context.Context, id target.ID) (*Session, error) {
	res, err := Call(ctx, cl.Browser(), target.AttachToTarget, target.AttachToTargetParams{TargetID: id, Flatten: new(true)})
	if err != nil {
		return nil, fmt.Errorf("attach to target: %w", err)
	}
	return cl.Session(SessionID(res.SessionID)), nil
}

// Conn returns the client's connection.
func (cl *Client) Conn() *Conn { return cl.conn }

// Close detaches the client and all its sessions from the browser and closes its
// sink. It waits for the browser's reply until ctx ends. It does nothing if the
// client is already closed or the connection has ended.
func (cl *Client) Close(ctx context.Context) (err error) {
	cl.close.Do(func() { err = cl.detach(ctx) })
	return err
}

func (cl *Client) detach(ctx context.Context) error {
	_, err := Call(ctx, cl.conn.Root(), target.DetachFromTarget, target.DetachFromTargetParams{SessionID: target.SessionID(cl.id)})
	cl.conn.mu.Lock()
	failed := cl.conn.forgetLocked(cl.id)
	cl.conn.mu.Unlock()
	for _, call := range failed {
		call.finish(reply{err: ErrDetached})
	}
	cl.closeSink()
	if err != nil && !errors.Is(err, ErrClosed) { // a closed connection has already detached it
		return fmt.Errorf("detach client: %w", err)
	}
	return nil
}

// Session is a client's attachment to one target. It is a handle without state
// of its own.
type Session struct {
	client *Client
	id     SessionID
}

// ID returns the session's id, as events carry it.
func (s *Session) ID() SessionID { return s.id }

// Client returns the client the session belongs to.
func (s *Session) Client() *Client { return s.client }

// Call sends a command, waits for the reply and decodes it into result, which may
// be nil. params is a cdproto value, a json.RawMessage or nil. The error is an
// *Error if Chromium refused the command. If no reply came, the error wraps
// ErrDetached, ErrClosed, ErrBacklog, ErrMessageTooLarge or ctx's cause. Prefer
// the function Call, which is typed.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	raw, err := s.client.conn.call(ctx, s.id, method, params)
	if err != nil || result == nil {
		return err
	}
	if out, ok := result.(*json.RawMessage); ok {
		*out = raw
		return nil
	}
	if err := jsonv2.Unmarshal(raw, result, jsonv2.AllowInvalidUTF8(true)); err != nil {
		return fmt.Errorf("%s: decode result: %w", method, err)
	}
	return nil
}

// Send sends a command without waiting for its reply, so the caller does not
// learn whether Chromium refused it. Chromium carries out the commands of one
// session in the order in which they were sent.
func (s *Session) Send(method string, params any) error {
	if _, err := s.client.conn.send(s.id, method, params, nil); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Post sends a command without waiting. The reply arrives at the client's sink as
// an Event with the token, which must not be nil, in order with other events.
// This lets one goroutine own a state that depends on replies and events. When
// Post returns an error, no reply arrives. Otherwise exactly one reply arrives,
// unless the sink is closed first.
func (s *Session) Post(method string, params, token any) error {
	_, err := s.client.conn.send(s.id, method, params, &call{
		session: s.id,
		posted:  &posted{client: s.client, method: method, token: token},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Call runs a typed command of cdproto on the session and returns its result.
func Call[P, R any](ctx context.Context, s *Session, c proto.Command[P, R], params P) (R, error) {
	var res R
	if err := s.Call(ctx, c.Method, params, &res); err != nil {
		var zero R
		return zero, err
	}
	return res, nil
}

// Send sends a typed command of cdproto without waiting for its reply.
func Send[P, R any](s *Session, c proto.Command[P, R], params P) error {
	return s.Send(c.Method, params)
}

// Decode decodes an event's payload as the type that belongs to e:
//
//	frame, err := cdp.Decode(ev, page.FrameNavigated)
func Decode[E any](ev Event, e proto.Event[E]) (E, error) {
	var v E
	if err := jsonv2.Unmarshal(ev.Params, &v, jsonv2.AllowInvalidUTF8(true)); err != nil {
		var zero E
		return zero, fmt.Errorf("decode %s: %w", e.Method, err)
	}
	return v, nil
}
