package session

import (
	"context"
	"errors"
	"time"

	"takeover/archive"
	"takeover/control"
	"takeover/store"
)

// reasonLost is the reason for the end of sessions whose server is gone.
const reasonLost = "node lost"

// Lost says what to read of a session whose server is gone.
type Lost struct {
	Server, Session string
	Takeover        string // the only takeover that is needed, or empty
	Whole           bool   // all runs and takeovers are needed, and how many events there are
}

// Lost returns a session of another server that is gone, as that stored it last: it has
// failed. It is for reading only, and belongs to the caller. The error is ErrNotFound if the
// store does not have it. While NATS has no leader, only a part can be read.
func (m *Manager) Lost(ctx context.Context, l Lost) (*Session, error) {
	kept := m.archive.Of(l.Server)
	record, err := archive.Get[sessionRecord](ctx, kept, archive.Key{Kind: archive.Sessions, Session: l.Session})
	if err != nil {
		return nil, missing(err)
	}
	past := past{services: &services{settings: m.settings, archive: kept, events: m.events}, reason: reasonLost, now: time.Now().UTC()}
	if !l.Whole {
		s := past.session(record, 0)
		if l.Takeover == "" {
			return s, nil
		}
		info, err := archive.Get[TakeoverInfo](ctx, kept, archive.Key{Kind: archive.Takeovers, Session: l.Session, ID: l.Takeover})
		if err != nil {
			return nil, missing(err)
		}
		past.takeover(s, info)
		return s, nil
	}
	last, err := m.events.Last(ctx, l.Session)
	if err != nil {
		return nil, err
	}
	s := past.session(record, last)
	if err := archive.Each(ctx, kept, archive.Runs, l.Session, func(_ archive.Key, r runRecord) { past.run(s, r) }); err != nil {
		return nil, err
	}
	if err := archive.Each(ctx, kept, archive.Takeovers, l.Session, func(_ archive.Key, t TakeoverInfo) { past.takeover(s, t) }); err != nil {
		return nil, err
	}
	s.runs.sort()
	s.takeovers.sort()
	return s, nil
}

// missing turns the store's error for what it does not have into that of the manager.
func missing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return ErrNotFound
	}
	return err
}

// over returns the state of a session whose server ended without ending it.
func (r sessionRecord) over(reason string, now time.Time) Info {
	info := r.Info
	if !info.Status.Ended() {
		info.Status, info.EndReason, info.EndedAt = StatusFailed, reason, &now
		info.Duration = msOf(now.Sub(info.CreatedAt))
		info.Controller, info.Viewers, info.Takeover = control.Nobody, 0, nil
	}
	if info.Tabs == nil {
		info.Tabs = []Tab{}
	}
	if info.Metadata == nil {
		info.Metadata = map[string]any{}
	}
	return info
}

// cancelIfOpen ends a takeover whose server ended without ending it.
func (i *TakeoverInfo) cancelIfOpen(reason string, now time.Time) {
	if i.State.Open() {
		i.State, i.EndedAt, i.Note = TakeoverCancelled, &now, reason
	}
}
