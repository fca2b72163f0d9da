// Package commands is the door of programs that call the script API's Page over a
// WebSocket, one JSON message for each call.
package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"takeover/control"
	"takeover/door/inbox"
	"takeover/id"
	"takeover/limits"
	"takeover/session"
	"takeover/text"
)

const (
	// maxCommands and maxCommandBytes bound the commands of a connection that are
	// under way: their number, and the size of their messages.
	maxCommands     = 10_000
	maxCommandBytes = 64 << 20
	// maxMessage bounds one message, in bytes.
	maxMessage = 16 << 20
	// maxUnread bounds the answers that a client has not read, in bytes.
	maxUnread = 64 << 20
	// MaxLinks bounds the calls in one command.
	MaxLinks = 100
	// maxCommandID bounds the id of a command, in bytes.
	maxCommandID = 256
	// writeTimeout is how long a client may take to read one message.
	writeTimeout = 30 * time.Second
	// pingEvery is the interval of pings.
	pingEvery = 15 * time.Second
)

var (
	errLeft    = errors.New("the client left")
	errStalled = errors.New("the client does not read the answers")
)

// CloseStalled is the code with which the socket of a client closes that does not
// read.
const CloseStalled websocket.StatusCode = 4008

// Message is what a client sends.
type Message struct {
	Type      string          `json:"type" doc:"command."`
	CommandID string          `json:"commandId" doc:"Any text; the answer carries it." maxBytes:"256"`
	Method    json.RawMessage `json:"method" doc:"A member of Page, or a chain: a list of links."`
	Args      json.RawMessage `json:"args,omitempty" doc:"The list of arguments; in a chain, each link has its own."`
	Tab       uint32          `json:"tab,omitempty" doc:"The number of a tab, as in the session's tabs. Default: the one that people see."`
}

// Link is one call of a chain: a member of what the call before it returned.
type Link struct {
	Method string            `json:"method" doc:"A member's name."`
	Args   []json.RawMessage `json:"args,omitempty" doc:"The arguments."`
}

// Answer is what the server sends for each command.
type Answer struct {
	Type      string          `json:"type" doc:"commandResult, or error for a message without a readable command id."`
	CommandID string          `json:"commandId,omitempty" doc:"The command's."`
	Result    json.RawMessage `json:"result,omitempty" doc:"What the last member returned, if it did not fail."`
	Error     string          `json:"error,omitempty" doc:"Why the command failed."`
}

// Options configure Serve. The zero value of each field is its default.
type Options struct {
	Limits *limits.Hits // counts what is refused
}

// Door is one connection of a client.
type Door struct {
	session  *session.Session
	commands *session.Commands
	conn     *websocket.Conn
	limits   *limits.Hits
	cancel   context.CancelCauseFunc // ends the connection
	work     sync.WaitGroup          // one per command under way, and the writer

	mu     sync.Mutex // guards what follows
	count  int        // commands under way
	bytes  int        // of their messages
	queue  []Answer   // to write
	unread int        // bytes of the queue
	most   int        // maxUnread, except in tests
	room   int        // maxCommandBytes, except in tests
	more   chan struct{}
}

// Open lets a client act in a session. End it with Serve or Close.
func Open(s *session.Session, o Options) (*Door, error) {
	if o.Limits == nil {
		o.Limits = limits.New()
	}
	commands, err := session.OpenCommands(s, control.Client(id.New("cmd")))
	if err != nil {
		return nil, err
	}
	return &Door{session: s, commands: commands, limits: o.Limits, most: maxUnread, room: maxCommandBytes, more: make(chan struct{}, 1)}, nil
}

// Close ends a connection that was not served.
func (c *Door) Close() { c.commands.Close() }

// Serve carries out the client's commands until one side ends the connection, which
// it closes. Its error says why; it is nil if the client ended it.
func (c *Door) Serve(ctx context.Context, conn *websocket.Conn) error {
	s := c.session
	c.conn = conn
	ctx, cancel := context.WithCancelCause(ctx)
	c.cancel = cancel
	conn.SetReadLimit(maxMessage)
	c.work.Go(func() { cancel(c.write(ctx)) })
	c.work.Go(func() { c.keepAlive(ctx) })
	c.work.Go(func() { // the session's end ends the connection
		select {
		case <-s.Ended():
			cancel(&session.EndedError{Reason: s.Info().EndReason})
		case <-ctx.Done():
		}
	})
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		cancel(c.read(ctx))
	}()
	<-ctx.Done()
	err := context.Cause(ctx)
	c.commands.Close()
	code, reason := closing(err)
	_ = conn.Close(code, reason) // ends read; the client may be gone
	<-reading
	c.work.Wait()
	if errors.Is(err, errLeft) {
		return nil
	}
	return err
}

// reasonBytes bounds the reason of a close frame, in bytes (RFC 6455, 5.5).
const reasonBytes = 120

// closing returns the code and the reason with which a connection is closed.
func closing(err error) (websocket.StatusCode, string) {
	var ended *session.EndedError
	switch {
	case errors.Is(err, errLeft):
		return websocket.StatusNormalClosure, ""
	case errors.As(err, &ended):
		return websocket.StatusNormalClosure, text.Clip(ended.Reason, reasonBytes)
	case errors.Is(err, inbox.ErrFull), errors.Is(err, inbox.ErrSlow):
		return websocket.StatusMessageTooBig, err.Error()
	case errors.Is(err, errStalled):
		return CloseStalled, "stalled"
	}
	return websocket.StatusGoingAway, text.Clip(err.Error(), reasonBytes)
}

// read reads messages and begins their commands, in order.
func (c *Door) read(ctx context.Context) error {
	messages := inbox.New(c.conn, nil, c.limits, c.cancel)
	for {
		kind, raw, done, err := messages.Read()
		done() // enter counts it from now on
		if err != nil {
			return errLeft
		}
		if ctx.Err() != nil {
			continue // only the client's close frame is expected
		}
		if kind != websocket.MessageText {
			c.answer(Answer{Type: "error", Error: "only text messages are understood"})
			continue
		}
		m, chain, err := parse(raw)
		if err != nil {
			c.refuse(m, err)
			continue
		}
		if !c.enter(len(raw)) {
			c.limits.Add(limits.Commands, 1)
			c.refuse(m, fmt.Errorf("too many commands are under way: at most %d, of %d MiB in all", maxCommands, maxCommandBytes>>20))
			continue
		}
		wait, err := c.commands.Begin(ctx, m.Tab, chain)
		if err != nil {
			c.leave(len(raw))
			c.refuse(m, err)
			continue
		}
		c.work.Go(func() {
			defer c.leave(len(raw))
			result, err := wait(ctx)
			if err != nil {
				c.refuse(m, err)
				return
			}
			c.answer(Answer{Type: "commandResult", CommandID: m.CommandID, Result: result})
		})
	}
}

// parse reads a message, and returns its chain as JSON.
func parse(raw []byte) (Message, json.RawMessage, error) {
	var m Message
	if err := strict(raw, &m); err != nil {
		var known struct {
			CommandID string `json:"commandId"`
		}
		_ = json.Unmarshal(raw, &known) // so that the client knows which command was refused
		if len(known.CommandID) > maxCommandID {
			known.CommandID = ""
		}
		return Message{CommandID: known.CommandID}, nil, err
	}
	switch {
	case m.CommandID == "" || len(m.CommandID) > maxCommandID:
		return Message{}, nil, fmt.Errorf("commandId: must have 1 to %d characters", maxCommandID)
	case m.Type != "command":
		return m, nil, errors.New("type: must be command")
	case len(m.Method) == 0:
		return m, nil, errors.New("method: is required")
	}
	var name string
	if json.Unmarshal(m.Method, &name) == nil {
		one := Link{Method: name}
		if len(m.Args) > 0 {
			if err := strict(m.Args, &one.Args); err != nil {
				return m, nil, errors.New("args: must be a list")
			}
		}
		return chained(m, []Link{one})
	}
	if len(m.Args) > 0 {
		return m, nil, errors.New("args: must be in the links of the chain")
	}
	var links []Link
	if err := strict(m.Method, &links); err != nil {
		return m, nil, fmt.Errorf("method: must be the name of a member or a list of {method, args}: %w", err)
	}
	return chained(m, links)
}

func chained(m Message, links []Link) (Message, json.RawMessage, error) {
	if len(links) == 0 || len(links) > MaxLinks {
		return m, nil, fmt.Errorf("method: must have 1 to %d links", MaxLinks)
	}
	for i, l := range links {
		if l.Method == "" {
			return m, nil, fmt.Errorf("method[%d].method: is required", i)
		}
	}
	chain, err := json.Marshal(links)
	return m, chain, err
}

// strict decodes one JSON value, and refuses fields that are not known.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// enter counts a command under way. It returns false if there are too many.
func (c *Door) enter(size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count >= maxCommands || c.count > 0 && c.bytes+size > c.room {
		return false
	}
	c.count++
	c.bytes += size
	return true
}

func (c *Door) leave(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count--
	c.bytes -= size
}

// refuse answers a command with an error.
func (c *Door) refuse(m Message, err error) {
	a := Answer{Type: "commandResult", CommandID: m.CommandID, Error: err.Error()}
	if m.CommandID == "" {
		a.Type = "error"
	}
	c.answer(a)
}

// answer queues an answer.
func (c *Door) answer(a Answer) {
	c.mu.Lock()
	c.queue = append(c.queue, a)
	c.unread += sizeOf(a)
	stalled := c.unread > c.most && len(c.queue) > 1 // a single one may be as large as it is
	c.mu.Unlock()
	if stalled {
		c.stall()
	}
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// sizeOf returns about how many bytes an answer takes.
func sizeOf(a Answer) int { return len(a.Result) + len(a.Error) + len(a.CommandID) + 100 }

// next returns the oldest answer that is not written, and whether there is one.
func (c *Door) next() (a Answer, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return Answer{}, false
	}
	a = c.queue[0]
	c.queue = c.queue[1:]
	c.unread -= sizeOf(a)
	return a, true
}

// stall ends the connection of a client that does not read.
func (c *Door) stall() {
	c.limits.Add(limits.ProgramOutbox, 1)
	c.cancel(errStalled)
}

// write writes answers until ctx ends or the client does not read.
func (c *Door) write(ctx context.Context) error {
	for {
		if a, ok := c.next(); ok {
			if err := c.send(ctx, a); err != nil {
				return err
			}
			continue
		}
		select {
		case <-c.more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *Door) send(ctx context.Context, a Answer) error {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return err
	}
	writing, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := c.conn.Write(writing, websocket.MessageText, raw.Bytes()); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			c.stall()
			return errStalled
		}
		return errLeft
	}
	return nil
}

// keepAlive pings the client, so that a connection that is gone is noticed.
func (c *Door) keepAlive(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			waiting, done := context.WithTimeout(ctx, writeTimeout)
			err := c.conn.Ping(waiting)
			done()
			if err != nil {
				c.cancel(errLeft)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
