package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"takeover/door/socket"
	"takeover/links"
	"takeover/session"
)

// Messages of package viewer itself.
type (
	pongMessage struct {
		Type string         `json:"type"` // pong
		T    jsontext.Value `json:"t"`
	}
	statsMessage struct {
		Type    string  `json:"type"` // stats
		FPS     float64 `json:"fps"`
		RTTMS   float64 `json:"rttMs"`
		Skipped uint64  `json:"skipped"`
		Kbps    float64 `json:"kbps"`
	}
)

// run writes the messages of a connection until it ends.
func (v *Door) run() error {
	tick := time.NewTicker(statsEvery)
	defer tick.Stop()
	var last statsMessage
	for {
		select {
		case m, ok := <-v.messages:
			if err := v.message(m, ok); err != nil {
				return err
			}
		case r := <-v.replies:
			if err := v.writeJSON(r); err != nil {
				return err
			}
		case <-v.over:
			if err := v.grantOver(); err != nil {
				return err
			}
		case <-tick.C:
			if err := v.tick(&last); err != nil {
				return err
			}
		case <-v.ctx.Done():
			return context.Cause(v.ctx)
		}
	}
}

// message sends a message of the session. The socket ends after the last one.
func (v *Door) message(m any, open bool) error {
	if !open { // the outbox was closed early, because the viewer did not read
		return socket.ErrUnread
	}
	if err := v.writeJSON(v.censor(m)); err != nil {
		return err
	}
	if ended, ok := m.(session.EndedMessage); ok {
		return &session.EndedError{Reason: ended.Reason}
	}
	return nil
}

// censor removes what guests may not see: a takeover's link, and a run's result.
func (v *Door) censor(m any) any {
	if v.grant == nil {
		return m
	}
	switch m := m.(type) {
	case session.TakeoverMessage:
		if m.Takeover != nil {
			m.Takeover = new(m.Takeover.ForGuests(v.role))
		}
		return m
	case session.RunMessage:
		m.Run = session.RunInfo{
			ID: m.Run.ID, SessionID: m.Run.SessionID, Status: m.Run.Status, CreatedAt: m.Run.CreatedAt, EndedAt: m.Run.EndedAt,
			Logs: []session.RunLog{}, Steps: []session.RunStep{}, Tests: []session.RunTest{}, Takeovers: []session.TakeoverInfo{},
		}
		return m
	}
	return m
}

// tick sends figures that have changed, and ends the view of a guest whose link
// was revoked or has expired.
func (v *Door) tick(last *statsMessage) error {
	if v.grant != nil {
		if err := v.grantOver(); err != nil {
			return err
		}
	}
	st := v.viewer.CastStats()
	now := statsMessage{Type: "stats", FPS: round1(st.FPS), RTTMS: round1(float64(st.RTT) / float64(time.Millisecond)), Skipped: st.Skipped, Kbps: round1(st.Kbps)}
	v.options.Metrics.skipped.Add(float64(st.Skipped))
	if now == *last {
		return nil
	}
	if st.RTT > 0 {
		v.options.Metrics.acks.Observe(st.RTT.Seconds())
	}
	*last = now
	return v.writeJSON(now)
}

// grantOver returns the error that ends a guest's view when its link has ended, or
// nil. If the link ended with the session, the result is nil, because the message
// "ended" is already on its way.
func (v *Door) grantOver() error {
	err := v.options.Manager.CheckGrant(*v.grant)
	if why, ok := errors.AsType[*links.Error](err); ok && why.State == links.Ended {
		v.over = nil
		return nil
	}
	return err
}

func round1(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }

func (v *Door) writeJSON(m any) error {
	raw, err := json.Marshal(m)
	if err != nil {
		v.log.Error("encode a viewer's message", "error", err)
		return &socket.EndError{Code: websocket.StatusInternalError}
	}
	return v.socket.Write(websocket.MessageText, raw)
}

func (v *Door) writePicture(p session.Picture) error {
	defer p.Release()
	raw := p.Message()
	if err := v.socket.Write(websocket.MessageBinary, raw); err != nil {
		return err
	}
	v.options.Metrics.pictures.Inc()
	v.options.Metrics.bytes.Add(float64(len(raw)))
	return nil
}

// takeMessages passes the session's messages to the writer.
func (v *Door) takeMessages() {
	for {
		m, err := v.viewer.NextMessage(v.ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				close(v.messages)
			}
			return
		}
		select {
		case v.messages <- m:
		case <-v.ctx.Done():
			return
		}
	}
}

// writePictures writes pictures. It fetches the next one only after it has
// written the previous one, so it always writes the newest. The socket alternates
// between run and writePictures, so that a message waits for at most one picture.
func (v *Door) writePictures() {
	select {
	case <-v.hello:
	case <-v.ctx.Done():
		return
	}
	for {
		p, err := v.viewer.NextPicture(v.ctx)
		if errors.Is(err, session.ErrEnded) {
			return // a message reports the end
		}
		if err == nil {
			err = v.writePicture(p)
		}
		if err != nil {
			v.end(err)
			return
		}
	}
}
