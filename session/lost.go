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

// Lost returns a session of another server that is gone, as that stored it last: it has
// failed. The error is ErrNotFound if the store does not have it.
func (m *Manager) Lost(ctx context.Context, server, id string) (Info, error) {
	record, err := archive.Of[sessionRecord](ctx, m.archive, server, archive.Key{Kind: archive.Sessions, Session: id})
	if errors.Is(err, store.ErrNotFound) {
		return Info{}, ErrNotFound
	}
	if err != nil {
		return Info{}, err
	}
	return record.over(reasonLost, time.Now().UTC()), nil
}

// LostTakeover returns a takeover of such a session, which is cancelled if it was open.
func (m *Manager) LostTakeover(ctx context.Context, server, session, id string) (TakeoverInfo, error) {
	info, err := archive.Of[TakeoverInfo](ctx, m.archive, server, archive.Key{Kind: archive.Takeovers, Session: session, ID: id})
	if errors.Is(err, store.ErrNotFound) {
		return TakeoverInfo{}, ErrNotFound
	}
	if err != nil {
		return TakeoverInfo{}, err
	}
	info.cancelIfOpen(reasonLost, time.Now().UTC())
	return info, nil
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
