package web

import (
	"context"
	"encoding/json"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/session"
)

const (
	// changesPause is the least time between two messages of a stream of changes;
	// what happens meanwhile is told together.
	changesPause = 300 * time.Millisecond
	// maxCalls is how many open takeovers a message names; the newest are left out.
	maxCalls = 100
)

// overview is what a stream of changes tells: who is needed, and how much is going on.
type overview struct {
	Live    int    `json:"live"`
	Waiting []call `json:"waiting"` // takeovers that are open, oldest first
}

// call is a takeover that is open.
type call struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	Reason    string `json:"reason"`
	Claimed   bool   `json:"claimed"` // somebody is on it
}

// streamChanges is GET /v1/sessions/stream: an overview now, and another whenever
// something of the sessions is different.
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

// afterPause is closed when changesPause is over, or ctx.
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
