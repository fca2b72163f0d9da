// Package commands is the door of programs that call the script API's Page over a
// WebSocket, one JSON message for each call.
package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/coder/websocket"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/control"
	"takeover/door/socket"
	"takeover/id"
	"takeover/invalid"
	"takeover/limits"
	"takeover/session"
)

const (
	// maxMessage bounds one message, in bytes.
	maxMessage = 16 << 20
	// MaxLinks bounds the calls in one command.
	MaxLinks = 100
	// maxCommandID bounds the id of a command, in bytes.
	maxCommandID = 256
)

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

// Options configures a Door. All fields are required.
type Options struct {
	StallLimit time.Duration // how long a client may take no bytes, or leave a ping unanswered
	Limits     *limits.Hits  // counts what is refused
	Logger     *slog.Logger
}

// Door is one connection of a client.
type Door struct {
	session  *session.Session
	commands *session.Commands
	options  Options
	answers  *socket.Outbox[Answer]
	socket   *socket.Socket // set by Serve
	work     sync.WaitGroup // one per command under way, and the loops

	backlog control.Backlog // commands under way
}

// Open lets a client act in a session. End it with Serve or Close.
func Open(s *session.Session, o Options) (*Door, error) {
	commands, err := session.OpenCommands(s, control.Client(id.New("cmd")))
	if err != nil {
		return nil, err
	}
	return &Door{session: s, commands: commands, options: o, answers: socket.NewOutbox[Answer](socket.MaxUnread)}, nil
}

// Close ends a connection that was not served.
func (c *Door) Close() { c.commands.Close() }

// Serve carries out the client's commands until one side ends the connection or ctx does,
// and closes it.
func (c *Door) Serve(ctx context.Context, conn socket.Conn) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.socket = socket.New(ctx, cancel, conn, socket.Options{
		MaxMessage: maxMessage, StallLimit: c.options.StallLimit, Limits: c.options.Limits,
	})
	c.work.Go(func() { c.write(ctx) })
	c.work.Go(c.socket.KeepAlive)
	c.work.Go(func() { c.read(ctx) })
	select {
	case <-c.session.Ended():
		cancel(&session.EndedError{Reason: c.session.Info().EndReason})
	case <-ctx.Done():
	}
	c.commands.Close()
	code, reason := c.socket.Close() // ends read
	c.work.Wait()
	c.options.Logger.Debug("command socket closed", "session", c.session.ID(), "code", code, "reason", reason)
}

// read reads messages and begins their commands, in order.
func (c *Door) read(ctx context.Context) {
	for {
		kind, raw, done, err := c.socket.Read()
		done() // the backlog counts it from now on
		if err != nil {
			return
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
		if err := c.backlog.Enter(len(raw)); err != nil {
			c.options.Limits.Add(limits.Waiting, 1)
			c.refuse(m, err)
			continue
		}
		wait, err := c.commands.Begin(ctx, m.Tab, chain)
		if err != nil {
			c.backlog.Leave(len(raw))
			c.refuse(m, err)
			continue
		}
		c.work.Go(func() {
			defer c.backlog.Leave(len(raw))
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

// strict decodes one JSON value, and refuses fields that are not known. The error names
// the field.
func strict(raw []byte, into any) error {
	err := jsonv2.Unmarshal(raw, into, jsonv2.RejectUnknownMembers(true),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) // arguments may have both
	if bad := invalid.JSON(err); bad != nil {
		return bad
	}
	if err != nil {
		return errors.New("a message must be one JSON object")
	}
	return nil
}

// refuse answers a command with an error.
func (c *Door) refuse(m Message, err error) {
	a := Answer{Type: "commandResult", CommandID: m.CommandID, Error: err.Error()}
	if m.CommandID == "" {
		a.Type = "error"
	}
	c.answer(a)
}

// answer queues an answer. A client that leaves too many unread is disconnected.
func (c *Door) answer(a Answer) {
	if _, err := c.answers.Put(a, len(a.Result)+len(a.Error)+len(a.CommandID)); err != nil {
		c.options.Limits.Add(limits.ProgramOutbox, 1)
		c.socket.End(err)
	}
}

// write writes answers until ctx ends.
func (c *Door) write(ctx context.Context) {
	for {
		a, ok, _ := c.answers.Take()
		if !ok {
			select {
			case <-c.answers.Wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		var raw bytes.Buffer
		e := json.NewEncoder(&raw)
		e.SetEscapeHTML(false)
		if err := e.Encode(a); err != nil {
			c.socket.End(err)
			return
		}
		if c.socket.Write(websocket.MessageText, raw.Bytes()) != nil {
			return
		}
	}
}
