package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"takeover/background"
	"takeover/store"
)

// reasonRestart is why what was live ended when the process was killed.
const reasonRestart = "the server was restarted"

// serverIDFile keeps, in the data directory, the name under which this server keeps
// its sessions in a NATS that others may use too.
const serverIDFile = "server-id"

// ServerID reads the name that a server's data directory gives it, and makes one at
// the first start. Several servers may share one NATS: each keeps its things under it.
func ServerID(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("open data directory: %w", err)
	}
	defer root.Close()
	raw, err := root.ReadFile(serverIDFile)
	if id := strings.TrimSpace(string(raw)); err == nil && len(id) == 24 && strings.Trim(id, "0123456789abcdef") == "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the server's id: %w", err)
	}
	b := make([]byte, 12)
	_, _ = rand.Read(b) // crypto/rand never fails
	id := hex.EncodeToString(b)
	if err := root.WriteFile(serverIDFile, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the server's id: %w", err)
	}
	return id, nil
}

// openStore opens what outlives the process, and lists what an earlier one left.
func (m *Manager) openStore(s *store.Store) error {
	ctx, cancel := context.WithTimeout(context.Background(), store.OpenTimeout)
	defer cancel()
	server, err := ServerID(m.opts.Dir)
	if err != nil {
		return err
	}
	if m.events, err = s.Events(ctx, m.opts.Events); err != nil {
		return err
	}
	// What is kept goes when the session is forgotten; the table's own age is for
	// what a killed process left.
	tables, err := openTables(ctx, s, server, m.opts.Keep.Bytes, m.opts.Keep.Age+MaxTimeout)
	if err != nil {
		return err
	}
	m.archive = newArchive(tables, m.opts.Keep.Bytes, m.opts.Logger)
	m.archive.full = m.forget
	m.links.archive = m.archive
	if err := m.restore(ctx); err != nil {
		return fmt.Errorf("read the sessions of earlier: %w", err)
	}
	go m.archive.run()
	return nil
}

// restore lists the sessions of earlier processes, as they were when they ended.
// What was live then has ended now.
func (m *Manager) restore(ctx context.Context) error {
	now := time.Now().UTC()
	if err := readRecords(ctx, m.archive, kindSession, func(key archiveKey, _ int, r sessionRecord) error {
		last, err := m.events.Last(ctx, r.ID)
		if err != nil {
			return err
		}
		m.archive.moreLocked(key, r.LogBytes)
		m.sessions[r.ID] = m.restoreSession(r, last, now)
		return nil
	}); err != nil {
		return err
	}
	if err := readRecords(ctx, m.archive, kindRun, func(key archiveKey, _ int, r runRecord) error {
		if s := m.sessions[key.session]; s != nil {
			m.archive.moreLocked(key, r.DetailBytes)
			s.restoreRun(r, now)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := readRecords(ctx, m.archive, kindTakeover, func(key archiveKey, _ int, info TakeoverInfo) error {
		if s := m.sessions[key.session]; s != nil {
			s.restoreTakeover(info, now)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := readRecords(ctx, m.archive, kindLink, func(key archiveKey, _ int, r linkRecord) error {
		if one := r.link(); m.sessions[key.session] != nil {
			m.links.byHash[one.hash], m.links.byID[one.ID] = one, one
		}
		return nil
	}); err != nil {
		return err
	}
	for id, s := range m.sessions {
		m.order = append(m.order, id)
		m.links.end(id)
		slices.SortFunc(s.runs, func(a, b *Run) int { return compareTimes(a.info.CreatedAt, b.info.CreatedAt, a.ID(), b.ID()) })
		slices.SortFunc(s.takeovers, func(a, b *Takeover) int {
			return compareTimes(a.info.CreatedAt, b.info.CreatedAt, a.ID(), b.ID())
		})
	}
	slices.SortFunc(m.order, func(a, b string) int {
		return compareTimes(m.sessions[a].createdAt, m.sessions[b].createdAt, a, b)
	})
	m.forget()
	return nil
}

func compareTimes(a, b time.Time, idA, idB string) int {
	return cmp.Or(a.Compare(b), strings.Compare(idA, idB))
}

// readRecords gives read each record of a kind. What belongs to no session that is
// listed is deleted, and what cannot be read is left out.
func readRecords[T any](ctx context.Context, a *archive, kind string, read func(key archiveKey, bytes int, record T) error) error {
	return a.tables.each(ctx, kind, func(key archiveKey, value []byte) error {
		var record T
		if err := json.Unmarshal(value, &record); err != nil {
			a.log.Warn("a record of an earlier session cannot be read", "kind", kind, "session", key.session, "error", err)
			return nil
		}
		if kind != kindSession && a.sizes[key.session] == nil {
			a.drop(key)
			return nil
		}
		a.sizeLocked(key, len(value)) // nobody else is there yet
		return read(key, len(value), record)
	})
}

// restoreSession makes an ended session of what is kept of it. last is the seq of
// its newest event that is.
func (m *Manager) restoreSession(record sessionRecord, last uint64, now time.Time) *Session {
	info := record.Info
	live := !info.Status.Ended()
	if live {
		info.Status, info.EndReason, info.EndedAt = StatusFailed, reasonRestart, &now
		info.Duration = msOf(now.Sub(info.CreatedAt))
		info.Controller, info.Viewers = HolderNobody, 0
	}
	info.EventCount = max(info.EventCount, last)
	if info.Tabs == nil {
		info.Tabs = []Tab{}
	}
	if info.Metadata == nil {
		info.Metadata = map[string]any{}
	}
	s := newSession(m, CreateOptions{Dimensions: info.Dimensions}, info.ID, info.EventCount+1)
	s.archived, s.logBytes = &info, record.LogBytes
	s.status, s.createdAt, s.endReason, s.endedAt = info.Status, info.CreatedAt, info.EndReason, *info.EndedAt
	s.sealed = true
	s.keeping.set(last, false)
	s.cancel(&endCause{status: info.Status, reason: info.EndReason})
	_ = s.monitor.Close() // never fails
	s.monitor.Ring().Close()
	close(s.started)
	close(s.ended)
	if live {
		s.archive()
	}
	return s
}

// restoreRun lists a run of a session of earlier.
func (s *Session) restoreRun(record runRecord, now time.Time) {
	info := record.RunInfo
	r := &Run{session: s, archived: true, detailBytes: record.DetailBytes, ready: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}), info: info}
	close(r.ready)
	close(r.done)
	r.said = s.said.Begin() // of which nothing is kept
	r.said.Cancel()
	if !info.Status.Ended() {
		r.info.Status, r.info.EndedAt = RunFailed, &now
		r.info.Error = &RunError{Name: "Error", Message: reasonRestart + " while the script ran"}
		r.archive()
	}
	s.runs = append(s.runs, r)
}

// restoreTakeover lists a takeover of a session of earlier.
func (s *Session) restoreTakeover(info TakeoverInfo, now time.Time) {
	t := &Takeover{session: s, ended: make(chan struct{}), info: info}
	close(t.ended)
	if info.State.Open() {
		t.info.State, t.info.EndedAt, t.info.Note = TakeoverCancelled, &now, reasonRestart
		t.archive()
	}
	s.takeovers = append(s.takeovers, t)
}

// recall reads what is kept apart of a run of an earlier process.
func (r *Run) recall() *runDetail {
	ctx, cancel := context.WithTimeout(context.Background(), archiveTimeout)
	defer cancel()
	tables := r.session.manager.archive.tables
	detail := runDetail{Said: []background.Section{{Name: background.Unnamed}}}
	value, err := tables.details.Get(ctx, tables.name(r.key()))
	if err == nil {
		err = json.Unmarshal(value, &detail)
	}
	if err != nil {
		r.session.log.Warn("read run", "run", r.ID(), "error", err)
		return &runDetail{Said: detail.Said, lost: true}
	}
	return &detail
}

// recallLog reads the log of a session of an earlier process. Of one that was live when
// that was killed, only its runs' are kept.
func (s *Session) recallLog() string {
	ctx, cancel := context.WithTimeout(context.Background(), archiveTimeout)
	defer cancel()
	tables := s.manager.archive.tables
	log, err := tables.details.Get(ctx, tables.name(s.key()))
	if err == nil {
		return string(log)
	}
	if !errors.Is(err, store.ErrNotFound) {
		s.log.Warn("read log", "error", err)
	}
	var all strings.Builder
	for _, r := range slices.Backward(s.Runs()) { // the oldest first
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
