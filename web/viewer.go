package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"takeover/door/socket"
	"takeover/limits"
	"takeover/links"
	"takeover/screencast"
	"takeover/session"
	"takeover/text"
)

const (
	// subprotocol is the name of the viewer's protocol.
	subprotocol = "takeover.v1"
	// viewerRate is the number of units that a viewer may send in a second, and
	// viewerBurst at once. A message costs one unit, and one more for each 4 KiB.
	// Beyond that, the socket is read more slowly.
	viewerRate, viewerBurst = 1000, 3000
	viewerUnit              = 4 << 10
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

// viewerSocket is the connection of one viewer. Only run writes messages, only
// writePictures writes pictures, and only read reads.
type viewerSocket struct {
	server *Server
	socket *socket.Socket
	viewer *session.Viewer
	role   session.Role
	grant  *links.Grant    // grant of a guest
	over   <-chan struct{} // closed when the grant's link is revoked; nil for operators
	log    *slog.Logger

	ctx context.Context // ends with the connection

	hello    chan struct{} // closed by read after the first message
	replies  chan any      // from read and acts to run
	messages chan any      // from the session to run; closed at the end
	acts     chan parsed   // from read to doActs
}

// view handles GET /v1/sessions/:id/view.
func (s *Server) view(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	if !websocketAsked(c.Request()) {
		return needsUpgrade(c, "Connect with the subprotocol "+subprotocol+".")
	}
	if offered := c.Request().Header.Get("Sec-WebSocket-Protocol"); offered != "" && !offers(offered, subprotocol) {
		return badField("Sec-WebSocket-Protocol", "must offer %s", subprotocol)
	}
	p := caller(c)
	role := p.role(one.ID())
	joining := session.ViewerOptions{Role: role, Name: p.name, Resume: c.QueryParam("resume")}
	if g, ok := p.grant(one.ID()); ok && !p.operator() {
		joining.Link = &g
	}
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done() // runs after viewer.Leave
	viewer, err := one.Join(joining)
	if err != nil {
		return err
	}
	defer viewer.Leave()
	conn := upgrade(c, subprotocol)
	if conn == nil {
		return nil
	}
	v := &viewerSocket{
		server: s, viewer: viewer, role: role, log: s.log.With("session", one.ID(), "viewer", viewer.ID()),
		hello: make(chan struct{}), replies: make(chan any, maxReplies), messages: make(chan any), acts: make(chan parsed, maxActs),
	}
	if joining.Link != nil {
		v.grant, v.over = joining.Link, s.manager.GrantOver(*joining.Link)
	}
	v.serve(conn)
	return nil
}

func websocketAsked(r *http.Request) bool {
	return r.Header.Get("Sec-WebSocket-Key") != "" && headerHas(r.Header.Values("Upgrade"), "websocket")
}

// serve runs the connection until one side ends it.
func (v *viewerSocket) serve(conn socket.Conn) {
	ctx, cancel := context.WithCancelCause(v.server.ctx)
	v.ctx = ctx
	v.socket = socket.New(ctx, cancel, conn, socket.Options{
		MaxMessage: messageLimit, StallLimit: v.server.cfg.StallLimit, Limits: v.server.manager.Limits(), RoundTrip: v.viewer.RoundTrip,
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
		v.server.metrics.dropped.WithLabelValues("stalled").Inc() // now, because Close waits for a peer that does not answer
	}
	code, reason := v.socket.Close() // ends read
	work.Wait()
	if errors.Is(err, socket.ErrLost) || slices.Contains([]websocket.StatusCode{socket.CloseStalled, closeGap, websocket.StatusMessageTooBig}, code) {
		v.viewer.Lost()
	}
	v.log.Debug("viewer left", "code", code, "reason", reason)
}

// end ends the connection for a cause, with its close code.
func (v *viewerSocket) end(cause error) {
	switch {
	case v.ctx.Err() != nil: // for another cause
		return
	case errors.Is(cause, screencast.ErrStalled):
		v.server.limitHit(limits.Pictures)
		cause = fmt.Errorf("%w: %w", socket.ErrStalled, cause)
	case errors.Is(cause, session.ErrGap):
		cause = &socket.EndError{Code: closeGap, Reason: cause.Error()}
	case errors.Is(cause, links.ErrInvalid):
		cause = &socket.EndError{Code: websocket.StatusPolicyViolation, Reason: sentence(cause.Error())}
	}
	v.socket.End(cause)
}

// read reads messages until the socket ends.
func (v *viewerSocket) read() {
	limit := rate.NewLimiter(viewerRate, viewerBurst)
	greeted := false
	for {
		kind, raw, done, err := v.socket.Read()
		done() // a message is small
		if err != nil {
			if errors.Is(err, websocket.ErrMessageTooBig) {
				v.server.metrics.malformed.Inc()
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
		m, err := parseViewerMessage(raw, v.role)
		if err != nil {
			v.complain(err)
			continue
		}
		v.server.metrics.messages.WithLabelValues(m.kind).Inc()
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
func (v *viewerSocket) pace(limit *rate.Limiter, size int) error {
	cost := 1 + size/viewerUnit
	if limit.AllowN(time.Now(), cost) {
		return nil
	}
	v.server.limitHit(limits.ViewerMessages)
	return limit.WaitN(v.ctx, cost)
}

// carryOut executes a message. It passes slow messages to doActs, in order, so
// that input does not wait for them.
func (v *viewerSocket) carryOut(m parsed) {
	switch {
	case m.kind == "ping":
		v.reply(pongMessage{Type: "pong", T: pingTime(m.message)})
	case m.slow:
		select {
		case v.acts <- m:
		default:
			v.server.limitHit(limits.ViewerActs)
			v.complain(fmt.Errorf("%s: too many operations are running", m.kind))
		}
	default:
		switch err := m.message.act(v.ctx, v.viewer); {
		case errors.Is(err, session.ErrGap):
			v.server.metrics.malformed.Inc()
			v.end(err)
		case err != nil:
			v.complain(fmt.Errorf("%s: %w", m.kind, err))
		}
	}
}

func pingTime(m viewerMessage) jsontext.Value {
	if ping, ok := m.(*pingMessage); ok && (ping.T.Kind() == '0' || ping.T.Kind() == '"') {
		return ping.T
	}
	return jsontext.Value("null")
}

// doActs executes slow messages in order.
func (v *viewerSocket) doActs() {
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
func (v *viewerSocket) complain(err error) {
	v.server.metrics.malformed.Inc()
	v.reply(session.ErrorMessage{Type: "error", Message: text.Clip(err.Error(), 500)})
}

// reply passes a message to run, which writes it. While a viewer does not read its
// replies, reply waits, and no message of the viewer is read.
func (v *viewerSocket) reply(m any) {
	select {
	case v.replies <- m:
	case <-v.ctx.Done():
	}
}

// offers reports whether a comma-separated header value contains the word.
func offers(value, word string) bool { return headerHas([]string{value}, word) }

func headerHas(values []string, word string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(fields(v), word) })
}
