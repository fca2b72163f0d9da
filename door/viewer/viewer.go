// Package viewer is the door of people who watch a session and act in it: the socket with
// the pictures of its page, and their input.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"takeover/door/socket"
	"takeover/limits"
	"takeover/links"
	"takeover/screencast"
	"takeover/session"
	"takeover/text"
)

const (
	// Subprotocol is the name of the viewer's protocol.
	Subprotocol = "takeover.v1"
	// maxRate is the number of units that a viewer may send in a second, and
	// maxBurst at once. A message costs one unit, and one more for each 4 KiB.
	// Beyond that, the socket is read more slowly.
	maxRate, maxBurst = 1000, 3000
	bytesPerUnit      = 4 << 10
	// statsEvery is the interval of a viewer's figures.
	statsEvery = time.Second
	// maxActs bounds how many slow messages of a viewer may wait.
	maxActs = 32
	// maxReplies bounds how many replies to a viewer may wait. Beyond that, the
	// socket is not read.
	maxReplies = 64
	// closeGap is the close code for a viewer whose inputs do not arrive one after the
	// other. RFC 6455 leaves the codes 4000–4999 to applications.
	closeGap websocket.StatusCode = 4009
)

// Options configures a Door. All fields are required.
type Options struct {
	Manager    *session.Manager // of the session; it knows which links still work
	StallLimit time.Duration    // how long a viewer may take no bytes, or leave a ping unanswered
	Metrics    *Metrics
	Logger     *slog.Logger
}

// Door is the connection of one viewer. Only run writes messages, only writePictures writes
// pictures, and only read reads.
type Door struct {
	options Options
	socket  *socket.Socket // set by Serve
	viewer  *session.Viewer
	role    session.Role
	grant   *links.Grant    // grant of a guest
	over    <-chan struct{} // closed when the grant's link is revoked; nil for operators
	log     *slog.Logger

	ctx context.Context // ends with the connection

	hello    chan struct{} // closed by read after the first message
	replies  chan any      // from read and acts to run
	messages chan any      // from the session to run; closed at the end
	acts     chan parsed   // from read to doActs
}

// Open lets a viewer join a session. End it with Serve or Close.
func Open(s *session.Session, joining session.ViewerOptions, o Options) (*Door, error) {
	one, err := s.Join(joining)
	if err != nil {
		return nil, err
	}
	d := &Door{
		options: o, viewer: one, role: joining.Role, grant: joining.Link, log: o.Logger.With("session", s.ID(), "viewer", one.ID()),
		hello: make(chan struct{}), replies: make(chan any, maxReplies), messages: make(chan any), acts: make(chan parsed, maxActs),
	}
	if d.grant != nil {
		d.over = o.Manager.GrantOver(*d.grant)
	}
	return d, nil
}

// Close lets a viewer leave that is not served.
func (v *Door) Close() { v.viewer.Leave() }

// Serve runs the connection until one side ends it.
func (v *Door) Serve(ctx context.Context, conn socket.Conn) {
	defer v.viewer.Leave()
	ctx, cancel := context.WithCancelCause(ctx)
	v.ctx = ctx
	v.socket = socket.New(ctx, cancel, conn, socket.Options{
		MaxMessage: maxMessage, StallLimit: v.options.StallLimit, Limits: v.options.Manager.Limits(), RoundTrip: v.viewer.RoundTrip,
	})
	v.log.Debug("viewer joined", "role", v.role)

	var work sync.WaitGroup
	work.Go(v.read)
	work.Go(v.takeMessages)
	work.Go(v.writePictures)
	work.Go(v.doActs)
	work.Go(v.socket.KeepAlive)
	err := v.run()
	v.end(err)
	if errors.Is(err, links.ErrInvalid) {
		v.viewer.Leave() // now, however the peer reacts to the close
	}
	if code, _ := socket.Closing(context.Cause(v.ctx)); code == socket.CloseStalled {
		v.options.Metrics.dropped.WithLabelValues("stalled").Inc() // now, because Close waits for a peer that does not answer
	}
	code, reason := v.socket.Close() // ends read
	work.Wait()
	if errors.Is(err, socket.ErrLost) || slices.Contains([]websocket.StatusCode{socket.CloseStalled, closeGap, websocket.StatusMessageTooBig}, code) {
		v.viewer.Lost()
	}
	v.log.Debug("viewer left", "code", code, "reason", reason)
}

// end ends the connection for a cause, with its close code.
func (v *Door) end(cause error) {
	switch {
	case v.ctx.Err() != nil: // for another cause
		return
	case errors.Is(cause, screencast.ErrStalled):
		v.limitHit(limits.Pictures)
		cause = fmt.Errorf("%w: %w", socket.ErrStalled, cause)
	case errors.Is(cause, session.ErrGap):
		cause = &socket.EndError{Code: closeGap, Reason: cause.Error()}
	case errors.Is(cause, links.ErrInvalid):
		cause = &socket.EndError{Code: websocket.StatusPolicyViolation, Reason: text.Sentence(cause.Error())}
	}
	v.socket.End(cause)
}

// read reads messages until the socket ends.
func (v *Door) read() {
	limit := rate.NewLimiter(maxRate, maxBurst)
	greeted := false
	for {
		kind, raw, done, err := v.socket.Read()
		done() // a message is small
		if err != nil {
			if errors.Is(err, websocket.ErrMessageTooBig) {
				v.options.Metrics.malformed.Inc()
			}
			return
		}
		if v.ctx.Err() != nil {
			continue // from now on, only the peer's close frame is expected
		}
		if err := v.pace(limit, len(raw)); err != nil {
			return
		}
		if kind != websocket.MessageText {
			v.complain(errors.New("only text messages are understood"))
			continue
		}
		m, err := parse(raw, v.role)
		if err != nil {
			v.complain(err)
			continue
		}
		v.options.Metrics.messages.WithLabelValues(m.kind).Inc()
		if !greeted && m.kind != "hello" && m.kind != "ping" {
			v.complain(errors.New("the first message must be hello"))
			continue
		}
		v.carryOut(m)
		if m.kind == "hello" && !greeted {
			greeted = true
			close(v.hello)
		}
	}
}

// pace slows down a viewer that sends too much. TCP then makes the viewer wait.
func (v *Door) pace(limit *rate.Limiter, size int) error {
	cost := 1 + size/bytesPerUnit
	if limit.AllowN(time.Now(), cost) {
		return nil
	}
	v.limitHit(limits.ViewerMessages)
	return limit.WaitN(v.ctx, cost)
}

// carryOut executes a message. It passes slow messages to doActs, in order, so
// that input does not wait for them.
func (v *Door) carryOut(m parsed) {
	switch {
	case m.kind == "ping":
		v.reply(pongMessage{Type: "pong", T: pingTime(m.message)})
	case m.slow:
		select {
		case v.acts <- m:
		default:
			v.limitHit(limits.ViewerActs)
			v.complain(fmt.Errorf("%s: too many operations are running", m.kind))
		}
	default:
		switch err := m.message.act(v.ctx, v.viewer); {
		case errors.Is(err, session.ErrGap):
			v.options.Metrics.malformed.Inc()
			v.end(err)
		case err != nil:
			v.complain(fmt.Errorf("%s: %w", m.kind, err))
		}
	}
}

func pingTime(m message) jsontext.Value {
	if ping, ok := m.(*pingMessage); ok && (ping.T.Kind() == '0' || ping.T.Kind() == '"') {
		return ping.T
	}
	return jsontext.Value("null")
}

// doActs executes slow messages in order.
func (v *Door) doActs() {
	for {
		select {
		case m := <-v.acts:
			if err := m.message.act(v.ctx, v.viewer); err != nil && v.ctx.Err() == nil {
				v.complain(fmt.Errorf("%s: %w", m.kind, err))
			}
		case <-v.ctx.Done():
			return
		}
	}
}

// complain sends the viewer an error, with its text.
func (v *Door) complain(err error) {
	v.options.Metrics.malformed.Inc()
	v.reply(session.ErrorMessage{Type: "error", Message: text.Clip(err.Error(), 500)})
}

// reply passes a message to run, which writes it. While a viewer does not read its
// replies, reply waits, and no message of the viewer is read.
func (v *Door) reply(m any) {
	select {
	case v.replies <- m:
	case <-v.ctx.Done():
	}
}

func (v *Door) limitHit(name limits.Name) { v.options.Manager.Limits().Add(name, 1) }
