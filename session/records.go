package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"takeover/archive"
	"takeover/background"
)

// sessionRecord is the record of a session in the store, without its log.
type sessionRecord struct {
	Info
	LogBytes     int `json:"logBytes"`
	PictureBytes int `json:"pictureBytes,omitempty"`
}

// earlier describes the end of a session of an earlier process. It never changes.
type earlier struct {
	info     *Info // nil for a session of this process
	logBytes int   // size of its log in the archive
}

// runRecord is the record of a run in the store, without its long parts.
type runRecord struct {
	RunInfo
	DetailBytes  int `json:"detailBytes"`
	PictureBytes int `json:"pictureBytes,omitempty"`
}

// runDetail holds the long parts of a run.
type runDetail struct {
	Script    RunScript       `json:"script"`
	Result    json.RawMessage `json:"result,omitempty"`
	Logs      []RunLog        `json:"logs"`
	Steps     []RunStep       `json:"steps"`
	Tests     []RunTest       `json:"tests"`
	Takeovers []TakeoverInfo  `json:"takeovers"` // as in the stream
	Order     string          `json:"order"`     // order of the stream: a letter for each message

	BackgroundEvents []background.Event   `json:"backgroundEvents"`
	Said             []background.Section `json:"said"` // its log without the head

	lost bool // reading the long parts failed
}

// orderLetters stand for the messages of a run's stream.
var orderLetters = map[string]byte{"log": 'l', "step": 's', "test": 't', "takeover": 'p'}

// archive writes the session's present state soon.
func (s *Session) archive() {
	s.services.archive.Later(s.key(), s.write)
	s.services.changes.tell()
}

func (s *Session) key() archive.Key { return archive.Key{Kind: archive.Sessions, Session: s.id} }

// write writes the session's record. It writes the log before that, separately,
// and only when it is complete, because the log is too long to be written at
// every change.
func (s *Session) write(ctx context.Context) (int, error) {
	record := sessionRecord{Info: s.Info(), LogBytes: s.earlier.logBytes}
	record.Takeover = nil // takeovers have records of their own
	fitInfo(&record.Info)
	if log := s.ownLog(); log != "" {
		if err := s.services.archive.SetDetails(ctx, s.key(), []byte(log)); err != nil {
			return 0, err
		}
		record.LogBytes = len(log)
	}
	picture, err := s.stills.last.write(ctx, s.services.archive, s.key())
	if err != nil {
		return 0, err
	}
	record.PictureBytes = picture
	n, err := s.services.archive.Set(ctx, s.key(), record)
	return n + record.LogBytes + record.PictureBytes, err
}

// ownLog returns the log of a session that has ended in this process, or "".
func (s *Session) ownLog() string {
	if s.earlier.info != nil || !s.Info().Status.Ended() {
		return ""
	}
	return s.Log()
}

// recordTimeout bounds how long record waits for the store.
const recordTimeout = time.Second

// record writes a record now, and waits for that. Its caller then tells somebody of a new
// session, of a request for a person, or of the end of a run or a takeover, which they find
// even after the process was killed. If the store is away or slow, record gives up.
func (s *Session) record(key archive.Key, write archive.Job) {
	a := s.services.archive
	if a == nil {
		return
	}
	written := a.Written(key, write)
	timer := time.NewTimer(recordTimeout)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
		s.log.Warn("the store does not have it yet", "kind", key.Kind, "id", key.ID)
	}
	s.services.changes.tell()
}

// fitInfo cuts the parts whose length pages choose, if they are too long:
// icons, and tabs that were not shown.
func fitInfo(info *Info) {
	size := len(info.StartURL)
	for _, t := range info.Tabs {
		size += len(t.URL) + len(t.Title) + len(t.Favicon)
	}
	if size < archive.MaxRecord/8 { // JSON may be several times as long
		return
	}
	info.StartURL = ""
	var active []Tab
	for _, t := range info.Tabs {
		t.Favicon = ""
		if t.URL == info.URL && t.Title == info.Title && active == nil {
			active = []Tab{t}
		}
	}
	info.Tabs = active
}

// archive writes the takeover's present state soon.
func (t *Takeover) archive() {
	t.session.services.archive.Later(t.key(), t.write)
	t.session.services.changes.tell()
}

func (t *Takeover) key() archive.Key {
	return archive.Key{Kind: archive.Takeovers, Session: t.session.id, ID: t.ID()}
}

func (t *Takeover) write(ctx context.Context) (int, error) {
	return t.session.services.archive.Set(ctx, t.key(), withoutSecret(t.Info()))
}

// withoutSecret returns a takeover in the form that is kept: without the secret
// of its link.
func withoutSecret(info TakeoverInfo) TakeoverInfo {
	info.URL, _, _ = strings.Cut(info.URL, "#")
	return info
}

// archive writes the run's present state soon.
func (r *Run) archive() {
	r.session.services.archive.Later(r.key(), r.write)
	r.session.services.changes.tell()
}

func (r *Run) key() archive.Key {
	return archive.Key{Kind: archive.Runs, Session: r.session.id, ID: r.ID()}
}

// write writes the run's record. It writes the long parts first, so that no
// record lacks them.
func (r *Run) write(ctx context.Context) (int, error) {
	kept := r.session.services.archive
	record := runRecord{RunInfo: r.Brief(), DetailBytes: r.detailBytes}
	if !r.archived {
		value, err := json.Marshal(r.detail())
		if err != nil {
			return 0, fmt.Errorf("write run: %w", err)
		}
		if err := kept.SetDetails(ctx, r.key(), value); err != nil {
			return 0, err
		}
		record.DetailBytes = len(value)
	}
	picture, err := r.picture.write(ctx, kept, r.key())
	if err != nil {
		return 0, err
	}
	record.PictureBytes = picture
	n, err := kept.Set(ctx, r.key(), record)
	return n + record.DetailBytes + record.PictureBytes, err
}

// detail returns the present long parts of the run.
func (r *Run) detail() runDetail {
	detail := runDetail{Script: r.given, Takeovers: []TakeoverInfo{}, BackgroundEvents: r.said.Events(), Said: r.said.Sections(r.head())}
	r.mu.Lock()
	defer r.mu.Unlock()
	detail.Result, detail.Logs, detail.Steps, detail.Tests = r.info.Result, r.info.Logs, r.info.Steps, r.info.Tests
	var order strings.Builder
	for _, ev := range r.events {
		if ev.Type == "end" {
			break
		}
		order.WriteByte(orderLetters[ev.Type])
		if t, ok := ev.Data.(TakeoverInfo); ok {
			detail.Takeovers = append(detail.Takeovers, withoutSecret(t))
		}
	}
	detail.Order = order.String()
	return detail
}

// stream returns the messages of the run's stream up to its end.
func (d *runDetail) stream() []RunEvent {
	list := make([]RunEvent, 0, len(d.Order))
	logs, steps, tests, takeovers := d.Logs, d.Steps, d.Tests, d.Takeovers
	for _, letter := range []byte(d.Order) {
		switch {
		case letter == 'l' && len(logs) > 0:
			list, logs = append(list, RunEvent{"log", logs[0]}), logs[1:]
		case letter == 's' && len(steps) > 0:
			list, steps = append(list, RunEvent{"step", steps[0]}), steps[1:]
		case letter == 't' && len(tests) > 0:
			list, tests = append(list, RunEvent{"test", tests[0]}), tests[1:]
		case letter == 'p' && len(takeovers) > 0:
			list, takeovers = append(list, RunEvent{"takeover", takeovers[0]}), takeovers[1:]
		}
	}
	return list
}
