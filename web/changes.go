package web

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/session"
)

const (
	// changesPause is the minimum time between two messages of a stream of
	// changes. Changes in between are reported together.
	changesPause = 300 * time.Millisecond
	// maxCalls bounds the open takeovers in a message. The newest are left out.
	maxCalls = 100
)

// overview is a message in a stream of changes: which takeovers need a person,
// and how many sessions are live.
type overview struct {
	Live    int    `json:"live"`
	Waiting []call `json:"waiting"` // open takeovers, oldest first
}

// call is an open takeover.
type call struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionId"`
	Reason    string `json:"reason"`
	Claimed   bool   `json:"claimed"` // a person is working on it
}

// streamChanges handles GET /v1/sessions/stream: it sends an overview at once,
// and another one after every change of a session.
func (s *Server) streamChanges(c echo.Context) error {
	return s.streaming(c, func(ctx context.Context, out *sse) error {
		for {
			changed := s.manager.Changed()
			text, err := json.Marshal(s.overview(c))
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

// afterPause returns a channel that is closed after changesPause, or when ctx
// ends.
func afterPause(ctx context.Context) <-chan struct{} {
	paused, cancel := context.WithTimeout(ctx, changesPause)
	context.AfterFunc(paused, cancel)
	return paused.Done()
}

// overview returns what is so now at all nodes that answer.
func (s *Server) overview(c echo.Context) overview {
	o := overview{Waiting: []call{}}
	for _, node := range s.nodes(c.Request()) {
		if !node.Lost {
			o.Live += node.Load.Sessions
		}
	}
	var open []session.TakeoverInfo
	for _, state := range []session.TakeoverState{session.TakeoverPending, session.TakeoverClaimed} {
		list, _ := s.takeoversOfNodes(c, state, maxCalls) // the page of sessions names the nodes that are missing
		open = append(open, list...)
	}
	slices.SortStableFunc(open, func(a, b session.TakeoverInfo) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	open = slices.CompactFunc(open, func(a, b session.TakeoverInfo) bool { return a.ID == b.ID }) // it was claimed between two questions
	for _, info := range open {
		if len(o.Waiting) < maxCalls {
			o.Waiting = append(o.Waiting, call{info.ID, info.SessionID, info.Reason, info.State == session.TakeoverClaimed})
		}
	}
	return o
}
