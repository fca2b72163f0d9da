package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"takeover/archive"
	"takeover/background"
	"takeover/links"
	"takeover/store"
)

// ReasonRestart is the reason for the end of sessions that were live when the
// process was killed.
const ReasonRestart = "the server was restarted"

// openStore opens the events, the archive and the links in the store, and adds
// the sessions of earlier processes to the manager.
func (m *Manager) openStore(s *store.Store) error {
	ctx, cancel := context.WithTimeout(context.Background(), store.OpenTimeout)
	defer cancel()
	server, err := store.ServerID(m.opts.Dir)
	if err != nil {
		return err
	}
	if m.events, err = s.Events(ctx, m.opts.Events); err != nil {
		return err
	}
	// Manager.forget deletes records. The store's age limit is for records that a
	// killed process left.
	m.archive, err = archive.Open(ctx, s, archive.Options{
		Server: server, Bytes: m.opts.Keep.Bytes, Age: m.opts.Keep.Age + MaxTimeout, Full: m.forget, Logger: m.opts.Logger,
	})
	if err != nil {
		return err
	}
	m.links = links.New(m.archive)
	if err := m.restore(ctx); err != nil {
		return fmt.Errorf("read the sessions of earlier processes: %w", err)
	}
	m.archive.Start()
	return nil
}

// restore adds the sessions of earlier processes to the manager, in their final
// state. Sessions that were live count as ended.
func (m *Manager) restore(ctx context.Context) error {
	past := past{services: &m.services, reason: ReasonRestart, now: time.Now().UTC()}
	if err := archive.Read(ctx, m.archive, archive.Sessions, func(_ archive.Key, r sessionRecord) (int, error) {
		last, err := m.events.Last(ctx, r.ID)
		if err != nil {
			return 0, err
		}
		m.sessions[r.ID] = past.session(r, last)
		return r.LogBytes + r.PictureBytes, nil
	}); err != nil {
		return err
	}
	if err := archive.Read(ctx, m.archive, archive.Runs, func(key archive.Key, r runRecord) (int, error) {
		s := m.sessions[key.Session]
		if s == nil {
			return 0, nil
		}
		past.run(s, r)
		return r.DetailBytes + r.PictureBytes, nil
	}); err != nil {
		return err
	}
	if err := archive.Read(ctx, m.archive, archive.Takeovers, func(key archive.Key, info TakeoverInfo) (int, error) {
		if s := m.sessions[key.Session]; s != nil {
			past.takeover(s, info)
		}
		return 0, nil
	}); err != nil {
		return err
	}
	if err := m.links.Restore(ctx, func(session string) bool { return m.sessions[session] != nil }); err != nil {
		return err
	}
	for id, s := range m.sessions {
		m.order = append(m.order, id)
		m.links.End(id)
		s.runs.sort()
		s.takeovers.sort()
	}
	slices.SortFunc(m.order, func(a, b string) int {
		return compareTimes(m.sessions[a].life.clock.createdAt, m.sessions[b].life.clock.createdAt, a, b)
	})
	m.forget()
	return nil
}

func compareTimes(a, b time.Time, idA, idB string) int {
	return cmp.Or(a.Compare(b), strings.Compare(idA, idB))
}

// past makes sessions of what another process stored. What was live has ended now, for a
// reason.
type past struct {
	services *services
	reason   string
	now      time.Time
}

// session creates an ended session from its record. last is the seq of its newest stored
// event.
func (p past) session(record sessionRecord, last uint64) *Session {
	live := !record.Status.Ended()
	info := record.over(p.reason, p.now)
	info.EventCount = max(info.EventCount, last)
	s := newSession(p.services, CreateOptions{Dimensions: info.Dimensions}, info.ID, info.EventCount+1)
	s.earlier = earlier{info: &info, logBytes: record.LogBytes}
	s.life.clock.createdAt = info.CreatedAt
	s.life.finish(&endCause{status: info.Status, reason: info.EndReason}, *info.EndedAt, nil)
	s.life.seal()
	s.stills.last.bytes = record.PictureBytes
	s.journal.Restore(last)
	s.life.end(info.Status, info.EndReason)
	_ = s.monitor.Close() // never fails
	s.monitor.Ring().Close()
	close(s.life.started)
	close(s.life.ended)
	if live {
		s.archive()
	}
	return s
}

// run adds a run to its session.
func (p past) run(s *Session, record runRecord) {
	info := record.RunInfo
	r := &Run{session: s, archived: true, detailBytes: record.DetailBytes, ready: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}), info: info}
	r.picture.bytes = record.PictureBytes
	close(r.ready)
	close(r.done)
	r.said = s.said.Begin() // its log is not kept
	r.said.Cancel()
	if !info.Status.Ended() {
		r.info.Status, r.info.EndedAt = RunFailed, &p.now
		r.info.Error = &RunError{Name: "Error", Message: p.reason + " while the script ran"}
		r.archive()
	}
	s.runs.restore(r)
}

// takeover adds a takeover to its session.
func (p past) takeover(s *Session, info TakeoverInfo) {
	t := &Takeover{session: s, ended: make(chan struct{}), info: info}
	close(t.ended)
	if info.State.Open() {
		t.info.cancelIfOpen(p.reason, p.now)
		t.archive()
	}
	s.takeovers.restore(t)
}

// recall reads the long parts of a run of an earlier process.
func (r *Run) recall() *runDetail {
	ctx, cancel := context.WithTimeout(context.Background(), archive.Timeout)
	defer cancel()
	detail := runDetail{Said: []background.Section{{Name: background.Unnamed}}}
	value, err := r.session.services.archive.Details(ctx, r.key())
	if err == nil {
		err = json.Unmarshal(value, &detail)
	}
	if err != nil {
		r.session.log.Warn("read run", "run", r.ID(), "error", err)
		return &runDetail{Said: detail.Said, lost: true}
	}
	return &detail
}

// recallLog reads the log of a session of an earlier process. If the session was
// live when that process was killed, only the logs of its runs exist.
func (s *Session) recallLog() string {
	ctx, cancel := context.WithTimeout(context.Background(), archive.Timeout)
	defer cancel()
	log, err := s.services.archive.Details(ctx, s.key())
	if err == nil {
		return string(log)
	}
	if !errors.Is(err, store.ErrNotFound) {
		s.log.Warn("read log", "error", err)
	}
	var all strings.Builder
	for _, r := range slices.Backward(s.Runs()) { // oldest first
		all.WriteString(r.Log())
	}
	return all.String()
}

// fill adds the long parts to a run.
func (d *runDetail) fill(info *RunInfo) {
	info.Result, info.Truncated = d.Result, info.Truncated || d.lost
	info.BackgroundEvents = append([]background.Event{}, d.BackgroundEvents...)
	info.Logs, info.Steps, info.Tests = append([]RunLog{}, d.Logs...), append([]RunStep{}, d.Steps...), append([]RunTest{}, d.Tests...)
}
