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
	// pingEvery is the interval of pings to a viewer.
	pingEvery = 15 * time.Second
	// statsEvery is the interval of a viewer's figures.
	statsEvery = time.Second
	// lastWrite is how long the message that is being written may take when the
	// connection ends.
	lastWrite = time.Second
	// maxActs bounds how many slow messages of a viewer may wait.
	maxActs = 32
	// maxReplies bounds how many replies to a viewer may wait. Beyond that, the
	// socket is not read.
	maxReplies = 64
	// maxCloseReason bounds the text of a close frame in bytes (RFC 6455, 5.5).
	maxCloseReason = 120
)

var (
	// errViewerLeft is why a view ends when the viewer closes the socket.
	errViewerLeft = errors.New("the viewer left")
	// errViewerLost is why a view ends when the connection breaks.
	errViewerLost = errors.New("the viewer's connection broke")
	// errTooLarge is why a view ends when the viewer sends a message above
	// messageLimit. The WebSocket package has then sent the close frame.
	errTooLarge = fmt.Errorf("%w: a message was too large", errViewerLost)
	// errUnread is why a view ends when the viewer left too many messages unread.
	errUnread = fmt.Errorf("%w: too many messages wait", errStalled)
)

// viewerSocket is the connection of one viewer. Only run writes messages, only
// writePictures writes pictures, and only read reads.
type viewerSocket struct {
	server *Server
	conn   *websocket.Conn
	viewer *session.Viewer
	role   session.Role
	grant  *links.Grant    // grant of a guest
	over   <-chan struct{} // closed when the grant's link is revoked; nil for operators
	log    *slog.Logger

	ctx     context.Context // ends with the connection
	cancel  context.CancelCauseFunc
	writing context.Context // ends lastWrite after ctx, with the same cause

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
		c.Response().Header().Set("Upgrade", "websocket")
		return &failure{kind: kindUpgrade, detail: "Connect with the subprotocol " + subprotocol + "."}
	}
	if offered := c.Request().Header.Get("Sec-WebSocket-Protocol"); offered != "" && !offers(offered, subprotocol) {
		return badField("Sec-WebSocket-Protocol", "must offer %s", subprotocol)
	}
	p := caller(c)
	role, _ := p.role(one.ID())
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
	conn, err := websocket.Accept(socketWriter{c.Response()}, c.Request(), &websocket.AcceptOptions{
		Subprotocols:       []string{subprotocol},
		InsecureSkipVerify: true, // guard has already checked the Origin, taking keys and the public URL into account
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return nil
	}
	v := &viewerSocket{
		server: s, conn: conn, viewer: viewer, role: role, log: s.log.With("session", one.ID(), "viewer", viewer.ID()),
		hello: make(chan struct{}), replies: make(chan any, maxReplies), messages: make(chan any), acts: make(chan parsed, maxActs),
	}
	if joining.Link != nil {
		v.grant, v.over = joining.Link, s.manager.GrantOver(*joining.Link)
	}
	v.serve()
	return nil
}

func websocketAsked(r *http.Request) bool {
	return r.Header.Get("Sec-WebSocket-Key") != "" && headerHas(r.Header.Values("Upgrade"), "websocket")
}

// serve runs the connection until one side ends it.
func (v *viewerSocket) serve() {
	v.ctx, v.cancel = context.WithCancelCause(v.server.ctx)
	stop := v.limitWrites()
	defer stop()
	v.conn.SetReadLimit(messageLimit)
	v.log.Debug("viewer joined", "role", v.role)

	var work sync.WaitGroup
	work.Go(v.read)
	work.Go(v.takeMessages)
	work.Go(v.writePictures)
	work.Go(v.doActs)
	work.Go(v.keepAlive)
	err := v.run()
	v.cancel(err)
	if errors.Is(err, links.ErrInvalid) {
		v.viewer.Leave() // now, however the peer reacts to the close
	}
	code, reason := v.closing(err)
	_ = v.conn.Close(code, reason) // ends read; the peer may be gone
	work.Wait()
	if errors.Is(err, errViewerLost) || code == closeStalled || code == closeGap {
		v.viewer.Lost()
	}
	v.log.Debug("viewer left", "code", code, "reason", reason)
}

// closing returns the close code and reason for the cause of the connection's
// end.
func (v *viewerSocket) closing(err error) (websocket.StatusCode, string) {
	var ended *session.EndedError
	switch {
	case errors.As(err, &ended):
		return websocket.StatusNormalClosure, text.Clip(ended.Reason, maxCloseReason)
	case errors.Is(err, errTooLarge):
		return websocket.StatusMessageTooBig, ""
	case errors.Is(err, errViewerLeft), errors.Is(err, errViewerLost):
		return websocket.StatusNormalClosure, ""
	case errors.Is(err, screencast.ErrStalled):
		v.server.limitHit(limits.Pictures)
		return v.stalled()
	case errors.Is(err, errUnread): // the session has already counted it
		return v.stalled()
	case errors.Is(err, errStalled):
		v.server.limitHit(limits.Stalls)
		return v.stalled()
	}
	if errors.Is(err, links.ErrInvalid) {
		return websocket.StatusPolicyViolation, text.Clip(sentence(err.Error()), maxCloseReason)
	}
	code := closeCode(err)
	if code == websocket.StatusInternalError {
		v.log.Error("viewer's socket", "error", err)
		return code, ""
	}
	return code, text.Clip(err.Error(), maxCloseReason)
}

// stalled counts a viewer that is disconnected, and returns its close code and
// reason.
func (v *viewerSocket) stalled() (websocket.StatusCode, string) {
	v.server.metrics.dropped.WithLabelValues("stalled").Inc()
	return closeStalled, "stalled"
}

// read reads messages until the socket ends.
func (v *viewerSocket) read() {
	limit := rate.NewLimiter(viewerRate, viewerBurst)
	greeted := false
	for {
		kind, raw, err := v.conn.Read(context.Background()) // without a deadline, because run closes the socket
		if err != nil {
			if errors.Is(err, websocket.ErrMessageTooBig) {
				v.server.metrics.malformed.Inc()
			}
			v.cancel(leftOrLost(err))
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

// leftOrLost returns why reading ended. It distinguishes a viewer that left with a
// close frame from one whose connection broke and who may return.
func leftOrLost(err error) error {
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return errTooLarge
	}
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway:
		return errViewerLeft
	}
	return errViewerLost
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
			v.cancel(err)
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

// keepAlive detects peers that are gone or read nothing, and measures the line.
func (v *viewerSocket) keepAlive() {
	tick := time.NewTicker(min(pingEvery, v.server.cfg.StallLimit/2))
	defer tick.Stop()
	for {
		sent := time.Now()
		ctx, cancel := context.WithTimeout(v.writing, v.server.cfg.StallLimit)
		err := v.conn.Ping(ctx)
		cancel()
		if err != nil {
			v.cancel(errStalled) // has no effect if the connection ended for another reason
			return
		}
		v.viewer.RoundTrip(time.Since(sent))
		select {
		case <-tick.C:
		case <-v.ctx.Done():
			return
		}
	}
}

// offers reports whether a comma-separated header value contains the word.
func offers(value, word string) bool { return headerHas([]string{value}, word) }

func headerHas(values []string, word string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(fields(v), word) })
}
