package web

import (
	"context"
	"encoding/json"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/session"
)

const (
	// changesPause is the minimum time between two messages of a stream of
	// changes. Changes in between are reported together.
	changesPause = 300 * time.Millisecond
	// maxCalls bounds the open takeovers in a message; the newest are left out.
	maxCalls = 100
)

// overview is the message of a stream of changes: who is needed, and how much is
// going on.
type overview struct {
	Live    int    `json:"live"`
	Waiting []call `json:"waiting"` // open takeovers, oldest first
}

// call is an open takeover.
type call struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	Reason    string `json:"reason"`
	Claimed   bool   `json:"claimed"` // somebody works on it
}

// streamChanges is GET /v1/sessions/stream: an overview now, and another one
// after every change of a session.
func (s *Server) streamChanges(c echo.Context) error {
	return s.streaming(c, func(ctx context.Context, out *sse) error {
		for {
			changed := s.manager.Changed()
			text, err := json.Marshal(s.overview())
			if err != nil {
				return err
			}
			if err := out.send("", "changed", text); err != nil {
				return err
			}
			if err := out.flush(); err != nil {
				return err
			}
			for _, wait := range []<-chan struct{}{changed, afterPause(ctx)} {
				select {
				case <-wait:
				case <-ctx.Done():
					return nil
				}
			}
		}
	})
}

// afterPause is closed after changesPause, or when ctx ends.
func afterPause(ctx context.Context) <-chan struct{} {
	paused, cancel := context.WithTimeout(ctx, changesPause)
	context.AfterFunc(paused, cancel)
	return paused.Done()
}

func (s *Server) overview() overview {
	o := overview{Live: s.manager.Stats().Live, Waiting: []call{}}
	for _, t := range s.manager.Takeovers("") {
		if info := t.Info(); info.State.Open() && len(o.Waiting) < maxCalls {
			o.Waiting = append(o.Waiting, call{info.ID, info.SessionID, info.Reason, info.State == session.TakeoverClaimed})
		}
	}
	return o
}
