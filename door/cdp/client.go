package cdp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/debugger"
	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/cdp"
	"takeover/cdp/policy"
	"takeover/control"
	"takeover/door/socket"
	"takeover/limits"
	"takeover/session"
)

const (
	// maxMessage bounds a message of a client, in bytes. Chromium's pipe has the
	// same bound.
	maxMessage = 256 << 20

	downloadTime  = 10 * time.Second // for a completed download to become a file of the session
	pausePatience = 5 * time.Second  // for a client for which a new page waits, until it must let the page run or answer a ping
)

// Causes of a connection's end.
var (
	errPageGone = &socket.EndError{Code: websocket.StatusNormalClosure, Reason: "the page is closed"}
	errVeiled   = &policy.RefusedError{Code: policy.CodeServer, Message: "a person came to a secret field meanwhile; take the picture again"}
)

// Options configures a client. Session, Limits and Logger are required.
type Options struct {
	Session    *session.Session
	Page       string        // the target that commands without a session go to; default the browser
	StallLimit time.Duration // how long a peer may take no bytes, or leave a ping unanswered
	Limits     *limits.Hits
	Logger     *slog.Logger

	// Budget bounds large messages. Default: the one of the process.
	Budget *socket.Budget

	// Downloaded gets the file of each completed download before the client learns of
	// its end. The client waits meanwhile. Default: does nothing.
	Downloaded func(guid string, file *os.File)

	unread  int   // socket.MaxUnread, except in tests
	largest int64 // maxMessage, except in tests
}

// Client is one connection of a program that speaks the DevTools protocol.
type Client struct {
	options Options
	raw     *session.RawClient
	log     *slog.Logger
	outbox  *socket.Outbox[item]
	letting unanswered     // commands that let pages go on
	socket  *socket.Socket // set by Serve

	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // takeovers, waiting commands

	targets  visibleTargets // what the client sees of the browser
	holding  chan struct{}  // one token: a page waits for the client
	watched  chan struct{}  // one token: a page is paused or has crashed
	waiting  waiting        // commands that wait until the client may write
	acting   acting         // commands whose end is not reported
	handoffs handoffs       // takeovers by the names of other vendors
	tracings tracings       // traces with pictures
	windows  windows        // that the client has asked for
	shooting sync.Mutex     // held by the command that waits for a turn to take a picture
}

// call is a command that was sent to Chromium.
type call struct {
	id       jsontext.Value // as the client gave it; nil for a command of the door's own
	session  cdp.SessionID  // as the client gave it
	on       cdp.SessionID  // the session in Chromium
	method   string
	params   json.RawMessage
	checked  policy.Command
	writes   bool
	turn     *control.Action // see turnOf
	reported bool            // its start
	answered bool            // a setting whose answer the client has, and that waits
	counted  bool            // in the backlog
	size     int             // there, in bytes
	shot     func()          // ends its turn to take a picture; nil for none
	dialogs  uint64          // for an answer to a dialog: the number of dialogs that the session had seen

	result func(json.RawMessage) (json.RawMessage, error) // changes the result; nil for none
	then   func()                                         // for a command of the door's own: called on the connection's read loop
}

// Open connects to the session's Chromium. End the client with Serve or Close. The
// errors are those of session.OpenRawClient.
func Open(ctx context.Context, o Options) (*Client, error) {
	c := &Client{options: o, outbox: socket.NewOutbox[item](cmp.Or(o.unread, socket.MaxUnread)), targets: newVisibleTargets(), holding: make(chan struct{}, 1), watched: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	raw, err := session.OpenRawClient(ctx, o.Session, o.Page, sink{c})
	if err != nil {
		c.cancel(err)
		return nil, err
	}
	c.raw, c.log = raw, o.Logger.With("session", o.Session.ID(), "client", raw.ID())
	raw.OnPerson(c.letGoThen)
	c.targets.begin(raw, o.Page)
	return c, nil
}

// Close ends a client that is not served.
func (c *Client) Close() {
	c.cancel(socket.ErrLeft)
	c.work.Wait()
	c.raw.Resume(c.targets.paused())
	if err := c.raw.Close(); err != nil {
		c.log.Warn("close CDP client", "error", err)
	}
	c.endTracings()
	c.acting.endAll(context.Cause(c.ctx))
}

// Serve runs the connection until one side ends it or ctx does, and closes both.
func (c *Client) Serve(ctx context.Context, conn socket.Conn) {
	stop := context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })
	defer stop()
	c.socket = socket.New(c.ctx, c.cancel, conn, socket.Options{
		MaxMessage: cmp.Or(c.options.largest, maxMessage), StallLimit: c.options.StallLimit, Limits: c.options.Limits, Budget: c.options.Budget,
	})
	c.log.Debug("CDP client connected", "page", c.options.Page)
	var loops sync.WaitGroup
	loops.Go(c.read)
	loops.Go(c.socket.KeepAlive)
	loops.Go(c.awaitPaused)
	loops.Go(c.watch)
	c.write()
	code, reason := c.socket.Close() // ends read
	loops.Wait()
	c.Close()
	c.log.Debug("CDP client left", "code", code, "reason", reason)
}

// read reads commands until the socket ends.
func (c *Client) read() {
	for {
		_, raw, done, err := c.socket.Read()
		if err == nil && c.ctx.Err() == nil {
			c.handle(raw)
		}
		done()
		if err != nil {
			return
		}
	}
}

// isPaused waits for a while, and reports whether a page still waits for the client.
func (c *Client) isPaused() bool {
	timer := time.NewTimer(min(pausePatience, c.options.StallLimit))
	defer timer.Stop()
	select {
	case <-timer.C:
		return len(c.targets.paused()) > 0
	case <-c.ctx.Done():
		return false
	}
}

// awaitPaused pings a peer for which a new page waits. It has less time than others,
// because a person may wait for the page, too.
func (c *Client) awaitPaused() {
	for {
		select {
		case <-c.holding:
			if c.isPaused() {
				c.socket.Ping(min(c.options.StallLimit, pausePatience))
			}
		case <-c.ctx.Done():
			return
		}
	}
}

// write writes the messages of the outbox until the connection ends.
func (c *Client) write() {
	var buffer []byte
	for {
		next, ok, closed := c.outbox.Take()
		switch {
		case c.ctx.Err() != nil && !closed && !next.last:
			return
		case closed && !ok:
			c.cancel(c.raw.EndReason())
			return
		case !ok:
			select {
			case <-c.outbox.Wake:
			case <-c.ctx.Done():
				return
			}
			continue
		}
		c.passDownload(next)
		message := c.encode(next, buffer[:0])
		next.event.Release()
		if len(message) == 0 {
			continue
		}
		if c.socket.Write(websocket.MessageText, message) != nil {
			return
		}
		if next.last {
			c.cancel(socket.ErrLeft)
			return
		}
		if buffer = message[:0]; cap(buffer) > keepBuffer {
			buffer = nil
		}
	}
}

// passDownload passes on the file of a download whose end a message tells.
func (c *Client) passDownload(i item) {
	if c.options.Downloaded == nil || i.call != nil || i.event.Method != browser.DownloadProgress.Method {
		return
	}
	var e browser.EventDownloadProgress
	if !decode(i.event.Params, &e) || e.State != browser.DownloadProgressStateCompleted {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, downloadTime)
	defer cancel()
	file, err := c.raw.OpenDownload(ctx, e.GUID)
	if err != nil {
		c.log.Debug("pass on a download", "error", err)
		return
	}
	defer file.Close()
	c.options.Downloaded(e.GUID, file)
}

// keepBuffer is the size, in bytes, of the largest buffer that is kept for the next
// message.
const keepBuffer = 1 << 20

// encode returns the message as it is sent, in b if that is large enough. It is empty if
// the client does not get the message.
func (c *Client) encode(i item, b []byte) []byte {
	switch {
	case i.ready != nil:
		return append(b, i.ready...)
	case i.call == nil:
		params, shown := c.traced(i.event)
		if !shown {
			return b
		}
		return appendEvent(b, i.event.Method, i.event.Session, params)
	}
	result, err := json.RawMessage(i.event.Params), i.event.Err
	c.acting.end(i.call, err)
	if err == nil && i.call.result != nil {
		result, err = i.call.result(result)
	}
	return appendReply(b, i.call.id, i.call.session, result, err)
}

// send queues a message for the client. A client that leaves too much unread is
// disconnected.
func (c *Client) send(i item) {
	added, err := c.outbox.Put(i, len(i.event.Params)+len(i.ready))
	if !added {
		i.event.Release()
	}
	if err != nil {
		c.options.Limits.Add(limits.ProgramOutbox, 1)
		c.cancel(err)
	}
}

// reply answers a command that did not go to Chromium.
func (c *Client) reply(to *call, result json.RawMessage, err error) {
	c.acting.end(to, err)
	c.send(item{ready: appendReply(nil, to.id, to.session, result, err)})
}

// emit sends an event of the door's own.
func (c *Client) emit(method string, session cdp.SessionID, params any) {
	raw, err := json.Marshal(params)
	if err != nil {
		c.log.Error("encode event", "method", method, "error", err)
		return
	}
	c.send(item{ready: appendEvent(nil, method, session, raw)})
}

// handle carries out one command. It runs on the goroutine that reads, so commands
// keep their order.
func (c *Client) handle(raw []byte) {
	m, err := parse(raw)
	to := &call{id: m.ID, session: m.SessionID, method: m.Method, params: m.Params}
	if err == nil {
		err = c.carryOut(to)
	}
	if err != nil {
		c.notTraced(to)
		c.reply(to, nil, err)
	}
}

// carryOut checks a command and passes it on. The error is the reply.
func (c *Client) carryOut(cmd *call) error {
	to, ok := c.targets.find(cmd.session)
	if !ok {
		return &policy.RefusedError{Code: codeSession, Message: textSession}
	}
	cmd.on = to.id
	if own := ownCommands[cmd.method]; own != nil {
		return own(c, cmd)
	}
	checked, err := to.scope.Check(cmd.method, cmd.params)
	if err != nil {
		return err
	}
	cmd.params, cmd.checked = checked.Params, checked
	cmd.writes = policy.Writes(cmd.method, cmd.params) && !to.settingUp(cmd.method)
	if m := mappings[cmd.method]; m != nil {
		if done, err := m(c, cmd, to); done || err != nil {
			return err
		}
	}
	if checked.Method.Draws {
		return c.draw(cmd, to)
	}
	if to.paused && !to.begun && actsAtOnce(cmd) && c.raw.Waits(nil) {
		if err := notAtOnce(cmd); err != nil {
			return err
		}
	}
	cmd.answered = cmd.writes && to.setsLater(cmd.method) && c.raw.Waits(nil)
	c.observe(cmd, to)
	switch {
	case cmd.answered:
		if err := c.whenAllowed(cmd); err != nil {
			return err
		}
		c.send(item{ready: appendReply(nil, cmd.id, cmd.session, nil, nil)})
		return nil
	case cmd.writes:
		return c.whenAllowed(cmd)
	}
	_, err = c.post(cmd)
	return err
}

// post sends a command to Chromium. A command that writes is sent only if the client may
// write at that moment; sent is false otherwise. The error is the reply.
func (c *Client) post(cmd *call) (sent bool, err error) {
	if cmd.writes {
		if c.raw.Waits(c.turnOf(cmd)) {
			return false, nil
		}
	}
	if !cmd.counted {
		if err := c.count(cmd, 0); err != nil {
			return false, err
		}
		defer func() {
			if !sent {
				c.uncount(cmd)
			}
		}()
	}
	on, ok := c.targets.find(cmd.on)
	if cmd.writes && !cmd.reported {
		cmd.reported = true
		c.acting.begin(cmd, c.raw.Action(on.target, cmd.method, cmd.params))
	}
	if !ok {
		return false, &policy.RefusedError{Code: codeSession, Message: textSession}
	}
	if err := on.scope.Begin(cmd.method, cmd.params); err != nil {
		return false, err
	}
	for _, before := range cmd.checked.Before {
		if err := c.raw.Post(c.ctx, cmd.on, before.Method, before.Params, &call{method: before.Method}); err != nil {
			return false, err
		}
	}
	cmd.checked.Before = nil // it may have to wait again
	if !cmd.writes {
		err = c.raw.Post(c.ctx, cmd.on, cmd.method, cmd.params, cmd)
		if err == nil && cmd.method == debugger.Enable.Method {
			c.letGoOn()
			c.watchOver()
		}
		return err == nil, err
	}
	sent, err = c.raw.Write(c.ctx, cmd.turn, cmd.on, cmd.method, cmd.params, cmd)
	if err != nil {
		return false, err
	}
	if sent {
		c.bringToFront(cmd)
		c.resizePage(cmd)
	}
	return sent, nil
}

// turnOf returns what the lease knows of a command that writes.
func (c *Client) turnOf(cmd *call) *control.Action {
	if cmd.turn == nil {
		on, _ := c.targets.find(cmd.on)
		cmd.turn = c.raw.Act(on.target, cmd.method, cmd.params)
	}
	return cmd.turn
}

// item is a message that waits to be written: an event of Chromium, or a reply to
// call, or a message that is ready.
type item struct {
	event cdp.Event
	call  *call  // set for a reply
	ready []byte // set for a message of the door itself
	last  bool   // the connection ends after this message
}

// sink takes the replies and events of Chromium, on the connection's read loop.
type sink struct{ client *Client }

// Put passes on a reply or an event.
func (s sink) Put(ev cdp.Event) {
	c := s.client
	if to, ok := ev.Token.(*call); ok {
		if to.then != nil {
			to.then()
			return
		}
		if to.id == nil {
			return
		}
		c.uncount(to)
		if to.shot != nil {
			to.shot()
		}
		if ev.Err != nil {
			c.notTraced(to)
		}
		if on, ok := c.targets.find(to.on); ok {
			ev.Err = on.scope.Answered(to.checked, ev.Err)
			ev.Params = on.scope.Result(to.checked, ev.Params)
			if to.checked.Method.Draws && ev.Err == nil && c.raw.Veiled(on.target) {
				ev.Err = errVeiled
			}
		}
		if to.answered {
			c.acting.end(to, ev.Err)
			ev.Release()
			return
		}
		ev.Session = to.session
		c.send(item{event: ev, call: to})
		return
	}
	if !c.shows(&ev) {
		ev.Release()
		return
	}
	c.send(item{event: ev})
}

// Close ends the connection after the messages that are there.
func (s sink) Close() { s.client.outbox.Close() }

// tell posts a command of the door's own, whose reply is ignored. It may be called
// on the connection's read loop.
func (c *Client) tell(on cdp.SessionID, method string, params json.RawMessage, then func()) {
	err := c.raw.PostNow(on, method, params, &call{method: method, then: then})
	if err != nil && !errors.Is(err, cdp.ErrDetached) && !errors.Is(err, cdp.ErrClosed) {
		c.log.Warn("tell browser", "method", method, "error", err)
	}
}

// tellAll posts commands of the door's own, each after the reply to the one before.
func (c *Client) tellAll(on cdp.SessionID, list []policy.Call) {
	if len(list) > 0 {
		c.tell(on, list[0].Method, list[0].Params, func() { c.tellAll(on, list[1:]) })
	}
}

// domainOf returns the domain of a command or event.
func domainOf(method string) string {
	domain, _, _ := strings.Cut(method, ".")
	return domain
}
